package auth

import (
	"context"
	"time"
)

// beat starts a clock and returns a function that waits for its next whole interval. The
// answer is sent at one of few moments, whatever was done before it, so that its duration
// reveals nothing. A slower machine answers one interval later.
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
