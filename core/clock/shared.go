package clock

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// MostDrift is how far a machine's clock may be from the database's before the log
	// and the system page warn.
	MostDrift = 30 * time.Second

	compareEvery = 2 * time.Second
	// slack is a difference that stays: a busy network or database makes as much,
	// and a clock that follows each would go back and forth.
	slack = 250 * time.Millisecond
)

// Steady is the machine's clock as it is now, and from then on the time that has
// passed: setting the clock doesn't move it. Only the command calls it.
func Steady() Clock {
	start := time.Now()
	return func() time.Time { return Trim(start.Add(time.Since(start))) }
}

// Shared is the one clock of several processes that work on one database: the
// database's. Each process compares its own with it, again and again, and goes by
// its own with the difference in between. It is safe for concurrent use.
type Shared struct {
	wall, steady Clock
	there        func(ctx context.Context) (time.Time, error)
	ahead        atomic.Int64 // nanoseconds by which steady is ahead of the database
	drifted      atomic.Bool  // the log has warned
}

// NewShared makes the clock. Until Compare has succeeded once it is the machine's
// own. wall is the machine's clock, steady a monotonic one, and there asks the
// database for the time.
func NewShared(wall, steady Clock, there func(ctx context.Context) (time.Time, error)) *Shared {
	return &Shared{wall: wall, steady: steady, there: there}
}

// Now is the database's time, in whole microseconds.
func (s *Shared) Now() time.Time { return Trim(s.steady().Add(-time.Duration(s.ahead.Load()))) }

// Drift is how far the machine's clock is ahead of the database's; negative when it is behind.
func (s *Shared) Drift() time.Duration { return s.wall().Sub(s.Now()) }

// Compare asks the database for its time once. The result is exact to half of the
// time that the query takes.
func (s *Shared) Compare(ctx context.Context) error {
	asked := s.steady()
	there, err := s.there(ctx)
	if err != nil {
		return fmt.Errorf("ask the database for the time: %w", err)
	}
	took := s.steady().Sub(asked)
	ahead := asked.Add(took / 2).Sub(there)
	if (ahead - time.Duration(s.ahead.Load())).Abs() > slack+took/2 {
		s.ahead.Store(int64(ahead))
	}
	return nil
}

// Run compares every two seconds until the context ends, and logs when the
// machine's clock has drifted away and when it is back. Without an answer the
// process keeps the last known difference.
func (s *Shared) Run(ctx context.Context) error {
	return RunEvery(ctx, compareEvery, func() {
		if err := s.Compare(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "this machine's clock can't be compared with the database's", "error", err)
		}
		drift := s.Drift()
		if far := drift.Abs() > MostDrift; s.drifted.Swap(far) != far {
			slog.ErrorContext(ctx, "this machine's clock and the database's", "ahead", drift.Round(time.Millisecond),
				"too far apart", far)
		}
	})
}
