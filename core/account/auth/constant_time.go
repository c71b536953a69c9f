package auth

import (
	"context"
	"time"
)

// startAnswerTimer starts a ticker and returns a function that waits for its next whole
// interval. The answer is sent at the end of an interval, whatever was done before it, so that
// its duration reveals nothing. A slower machine answers one interval later.
func startAnswerTimer(interval time.Duration) (wait func(context.Context)) {
	if interval == 0 {
		return func(context.Context) {}
	}
	ticker := time.NewTicker(interval)
	return func(ctx context.Context) {
		defer ticker.Stop()
		select {
		case <-ticker.C: // one that has passed
		default:
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}
