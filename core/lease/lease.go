// Package lease lets one replica at a time hold a piece of work, by a row in
// the database. The fence number rises whenever the holder changes, so that
// writes of an old holder can be refused.
package lease

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/models"
)

// Leases takes leases in the name of one process.
type Leases struct {
	db     *models.DB
	clock  clock.Clock
	holder string
}

// New makes the leases of one process.
func New(db *models.DB, now clock.Clock) *Leases {
	return &Leases{db: db, clock: now, holder: ident.RandomText(16)}
}

// Lease is how a lease stands for the process that asked.
type Lease struct {
	Held  bool
	Fence int64     // what the holder's writes carry; 0 when another holds it
	Until time.Time // when it ends, unless its holder renews it
}

// Wait is how long to wait before asking again: until the next renewal, or until
// another's lease ends if that is sooner, so that no time is lost after its holder died.
func (l Lease) Wait(now time.Time) time.Duration {
	if l.Held || l.Until.IsZero() {
		return renewal
	}
	const least = 50 * time.Millisecond
	return min(max(l.Until.Sub(now), least), renewal)
}

// Take takes or renews the lease for a time, and says how it stands.
func (l *Leases) Take(ctx context.Context, name string, hold time.Duration) (taken Lease, err error) {
	now := l.clock()
	err = l.db.Write(ctx, func(tx *models.Tx) error {
		row := models.Lease{Name: name, Holder: l.holder, Fence: 1, ExpiresAt: now.Add(hold)}
		made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected == 0 {
			renewed := tx.Exec(`UPDATE leases SET fence = CASE WHEN holder = ? THEN fence ELSE fence + 1 END,
				holder = ?, expires_at = ?
				WHERE name = ? AND (holder = ? OR expires_at <= ?)`, l.holder, l.holder, now.Add(hold), name, l.holder, now)
			if renewed.Error != nil {
				return renewed.Error
			}
			if err := tx.Where("name = ?", name).Take(&row).Error; err != nil {
				return err
			}
		}
		taken = Lease{Held: row.Holder == l.holder, Until: row.ExpiresAt}
		if taken.Held {
			taken.Fence = row.Fence
		}
		return nil
	})
	if err != nil {
		return Lease{}, err
	}
	return taken, nil
}

// Release gives the lease back early, so that another replica need not wait.
func (l *Leases) Release(ctx context.Context, name string) error {
	return l.db.Exec(ctx).Model(&models.Lease{}).Where("name = ? AND holder = ?", name, l.holder).
		Update("expires_at", l.clock()).Error
}

// Hold is how long a lease lasts without renewal: another replica takes over
// then from a holder that died.
const Hold = 6 * time.Second

// renewal is how often a lease is renewed, or asked for at least.
const renewal = 2 * time.Second

// again is the wait after a lease couldn't be asked for.
const again = 500 * time.Millisecond

// Run runs work while the lease is held, and waits for it while another holds
// it, until the context ends. The work's context ends when the lease is lost;
// it must return then. Its fence is what its writes carry.
func (l *Leases) Run(ctx context.Context, name string, work func(ctx context.Context, fence int64) error) error {
	var running *worker
	defer func() {
		running.stopWork()
		_ = l.Release(context.WithoutCancel(ctx), name)
	}()
	for {
		taken, err := l.takeOnce(ctx, name)
		switch {
		case err != nil && ctx.Err() == nil:
			slog.ErrorContext(ctx, "a lease can't be renewed", "lease", name, "error", err)
			if running != nil && l.clock().Sub(running.renewed) > Hold-renewal {
				running.stopWork()
				running = nil
			}
		case running != nil && (!taken.Held || taken.Fence != running.fence):
			running.stopWork()
			running = nil
		}
		switch {
		case taken.Held && running == nil:
			running = startWork(ctx, name, taken.Fence, work)
			running.renewed = l.clock()
		case taken.Held:
			running.renewed = l.clock()
		}
		wait := taken.Wait(l.clock())
		if err != nil {
			wait = again
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// takeOnce doesn't wait for a database that is silent, nor for the lock of a process
// that was halted in the middle of taking the lease.
func (l *Leases) takeOnce(ctx context.Context, name string) (Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	return l.Take(ctx, name, Hold)
}

// worker is work under way.
type worker struct {
	fence   int64
	renewed time.Time
	cancel  context.CancelFunc
	done    chan struct{}
}

func startWork(ctx context.Context, name string, fence int64, work func(context.Context, int64) error) *worker {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{fence: fence, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			if err := guardWork(ctx, fence, work); err != nil && ctx.Err() == nil {
				slog.ErrorContext(ctx, "leased work stopped; it starts again", "lease", name, "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	return w
}

// guardWork turns a panic of the work into an error, so that it starts again.
func guardWork(ctx context.Context, fence int64, work func(context.Context, int64) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return work(ctx, fence)
}

// stopWork ends the work and waits for it; nil is no work.
func (w *worker) stopWork() {
	if w != nil {
		w.cancel()
		<-w.done
	}
}
