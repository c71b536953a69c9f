// Package limit counts requests per caller in fixed windows of a minute. Each
// process counts in memory and adds to one shared row per caller about once a
// second, so that a request costs no write. Over several replicas the limit is
// therefore approximate: a replica learns the others' counts at the exchange after
// it was asked itself, and a caller may exceed the limit by what each replica lets
// through in the second before that.
package limit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/models"
)

const (
	// Window is the length of a window.
	Window = time.Minute
	// PerKey is the default number of requests of an API key in a window.
	PerKey = 6000

	exchange = time.Second // between two exchanges with the database
	piece    = 500         // callers in one transaction: on SQLite everybody else waits for it
)

// Limiter counts callers. Make one with New, and Run it.
type Limiter struct {
	db  *models.DB
	now clock.Clock

	mu        sync.Mutex
	start     time.Time // of the window that the rest is about
	callers   map[string]*caller
	addresses networkCounts
}

type caller struct {
	shared  int64 // what the database said at the last exchange
	pending int64 // counted here since
}

// New makes a limiter.
func New(db *models.DB, now clock.Clock) *Limiter {
	return &Limiter{db: db, now: now, callers: map[string]*caller{}, addresses: networkCounts{}}
}

// Result is where a caller stands after a request.
type Result struct {
	Allowed   bool
	Quota     int64         // requests in a window
	Remaining int64         // left in this window
	Reset     time.Duration // until the next window, at least a second
}

// PolicyHeader returns the value of the RateLimit-Policy header.
func (r Result) PolicyHeader() string {
	return fmt.Sprintf(`"default";q=%d;w=%d`, r.Quota, int(Window/time.Second))
}

// StandingHeader returns the value of the RateLimit header.
func (r Result) StandingHeader() string {
	return fmt.Sprintf(`"default";r=%d;t=%d`, r.Remaining, int(r.Reset/time.Second))
}

// Err is nil for an allowed request, else the Limited fault with the time to wait.
func (r Result) Err() error {
	if r.Allowed {
		return nil
	}
	f := fault.New(fault.Limited, "rate_limited",
		"Too many requests: %d a minute are allowed. Wait until the minute is over.", r.Quota)
	f.RetryAfter = r.Reset
	return f
}

// Take counts a request of a caller that may make quota requests in a window. A refused
// request doesn't count. A client that can invent callers must not be counted here: each
// caller has a count of its own, however many there are.
func (l *Limiter) Take(name string, quota int64) Result {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnWindow(now)
	return l.takeNow(name, quota, now)
}

// TakeFrom is Take for requests of a kind, counted by the client's address: together
// with its network where there are too many addresses for a count each.
func (l *Limiter) TakeFrom(kind, ip string, quota int64) Result {
	now, own, around := l.now(), kind+":"+ClientPrefix(ip), listNetworks(ip)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnWindow(now)
	if l.callers[own] == nil {
		if shared := l.addresses.addAddress(around); shared != "" {
			own = kind + ":" + shared
		}
	}
	return l.takeNow(own, quota, now)
}

func (l *Limiter) takeNow(name string, quota int64, now time.Time) Result {
	c := l.callers[name]
	if c == nil {
		c = &caller{}
		l.callers[name] = c
	}
	reset := l.start.Add(Window).Sub(now)
	result := Result{Quota: quota, Reset: (reset + time.Second - 1).Truncate(time.Second)}
	if used := c.shared + c.pending; used < quota {
		c.pending++
		result.Allowed, result.Remaining = true, quota-used-1
	}
	return result
}

// turnWindow begins a new window when its time has come. Counts of the old one
// that the database lacks are dropped. A clock that is set back by no more
// than a window brings no old one back: its counts are forgotten here.
func (l *Limiter) turnWindow(now time.Time) {
	if start := now.Truncate(Window); start.After(l.start) || start.Before(l.start.Add(-Window)) {
		l.start, l.callers, l.addresses = start, map[string]*caller{}, networkCounts{}
	}
}

// Run exchanges counts with the database until ctx ends.
func (l *Limiter) Run(ctx context.Context) {
	tick := time.NewTicker(exchange)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := l.ExchangeCounts(ctx); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "rate limits count in this process only", "error", err)
			}
		}
	}
}

// share is the count of a caller in this process since the last exchange. It points to
// the caller itself: after the clock moves, another one may have the same name.
type share struct {
	name   string
	caller *caller
	count  int64
}

// ExchangeCounts adds this process's counts to the shared rows and reads the counts of the
// other replicas. Counts that could not be added are added next time.
func (l *Limiter) ExchangeCounts(ctx context.Context) error {
	start, shares := l.listPending()
	for some := range slices.Chunk(shares, piece) {
		if err := l.addShares(ctx, start, some); err != nil {
			return err
		}
	}
	return nil
}

// addShares exchanges the counts of some callers in one transaction, which also takes
// away rows of windows that are over: more of them than it makes.
func (l *Limiter) addShares(ctx context.Context, start time.Time, shares []share) error {
	var rows []models.RateWindow
	err := l.db.Write(ctx, func(tx *models.Tx) error {
		rows = make([]models.RateWindow, len(shares)) // Write may run this again
		for i, s := range shares {
			rows[i] = models.RateWindow{Key: s.name, StartsAt: start, Count: s.count}
		}
		sum := clause.OnConflict{Columns: []clause.Column{{Name: "key"}, {Name: "starts_at"}},
			DoUpdates: clause.Assignments(map[string]any{"count": gorm.Expr("rate_windows.count + excluded.count")})}
		if err := tx.Clauses(sum, clause.Returning{}).Create(&rows).Error; err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM rate_windows WHERE (key, starts_at) IN (SELECT key, starts_at
			FROM rate_windows WHERE starts_at < ? ORDER BY starts_at LIMIT ?)`,
			start.Add(-Window), 2*piece).Error
	})
	if err != nil {
		return err
	}
	totals := make(map[string]int64, len(rows)) // databases give them in any order
	for _, row := range rows {
		totals[row.Key] = row.Count
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range shares {
		s.caller.shared, s.caller.pending = totals[s.name], s.caller.pending-s.count
	}
	return nil
}

// listPending lists the counts to be added, by name: replicas that lock the same rows
// in the same order never deadlock.
func (l *Limiter) listPending() (time.Time, []share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnWindow(l.now())
	var shares []share
	for name, c := range l.callers {
		if c.pending > 0 {
			shares = append(shares, share{name, c, c.pending})
		}
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.name, b.name) })
	return l.start, shares
}
