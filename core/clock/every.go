package clock

import (
	"context"
	"time"
)

// RunEvery runs work at once and then at each interval, until the context ends. It skips intervals that work outlasts.
// Its error is always nil: it is there for callers that return it as their own.
func RunEvery(ctx context.Context, interval time.Duration, work func()) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		work()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
