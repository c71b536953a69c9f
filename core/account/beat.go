package account

import (
	"context"
	"time"
)

// beat begins to count, and gives what waits for the next whole beat since: whatever was
// done in between, the answer comes at one of few moments, which those who measure can't
// tell apart. A machine on which the same takes longer answers a beat later.
func (s *Service) beat() (wait func(context.Context)) {
	if s.Beat == 0 {
		return func(context.Context) {}
	}
	beats := time.NewTicker(s.Beat)
	return func(ctx context.Context) {
		defer beats.Stop()
		select {
		case <-beats.C: // one that has passed
		default:
		}
		select {
		case <-beats.C:
		case <-ctx.Done():
		}
	}
}
