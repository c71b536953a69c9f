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
	"net/netip"
	"slices"
	"sync"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/models"
)

const (
	// Window is the length of a window.
	Window = time.Minute
	// PerKey is the default number of requests of an API key in a window.
	PerKey = 6000

	exchange   = time.Second // between two exchanges with the database
	maxCallers = 50_000      // counted apart in one process; the rest share a count
	overflow   = "overflow"
)

// Neighbourhood is what counts as one address: in IPv6 a customer has a whole /64.
func Neighbourhood(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil || address.Unmap().Is4() {
		return ip
	}
	prefix, _ := address.Prefix(64) // a valid IPv6 address has one
	return prefix.String()
}

// Limiter counts callers. Make one with New, and Run it.
type Limiter struct {
	db  *models.DB
	now clock.Clock

	mu      sync.Mutex
	start   time.Time // of the window that callers holds
	callers map[string]*caller
}

type caller struct {
	shared  int64 // what the database said at the last exchange
	pending int64 // counted here since
}

// New makes a limiter.
func New(db *models.DB, now clock.Clock) *Limiter {
	return &Limiter{db: db, now: now, callers: map[string]*caller{}}
}

// Result is where a caller stands after a request.
type Result struct {
	Allowed   bool
	Quota     int64         // requests in a window
	Remaining int64         // left in this window
	Reset     time.Duration // until the next window, at least a second
}

// Policy is the value of the RateLimit-Policy header.
func (r Result) Policy() string {
	return fmt.Sprintf(`"default";q=%d;w=%d`, r.Quota, int(Window/time.Second))
}

// Standing is the value of the RateLimit header.
func (r Result) Standing() string {
	return fmt.Sprintf(`"default";r=%d;t=%d`, r.Remaining, int(r.Reset/time.Second))
}

// Err is nil for an allowed request, else the Limited fault with the time to wait.
func (r Result) Err() error {
	if r.Allowed {
		return nil
	}
	f := fault.New(fault.Limited, "rate_limited", fmt.Sprintf("Too many requests: %d a minute are allowed. Wait until the minute is over.", r.Quota))
	f.RetryAfter = r.Reset
	return f
}

// Take counts a request of a caller that may make quota requests in a window.
// A refused request doesn't count.
func (l *Limiter) Take(name string, quota int64) Result {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	c := l.callers[name]
	if c == nil && len(l.callers) >= maxCallers {
		name = overflow
		c = l.callers[name]
	}
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

// turn begins a new window when its time has come. What the old one still had
// to tell the database is of no use to anybody.
func (l *Limiter) turn(now time.Time) {
	if start := now.Truncate(Window); !start.Equal(l.start) {
		l.start, l.callers = start, map[string]*caller{}
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
			if err := l.Exchange(ctx); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "rate limits count in this process only", "error", err)
			}
		}
	}
}

type share struct {
	Name  string
	Count int64
}

// Exchange adds what was counted here to the shared rows and learns what the
// other replicas counted. What could not be added stays to be added next time.
func (l *Limiter) Exchange(ctx context.Context) error {
	start, shares := l.pending()
	if len(shares) == 0 {
		return nil
	}
	totals := make([]int64, len(shares))
	err := l.db.Write(ctx, func(tx *models.Tx) error {
		for i, s := range shares {
			err := tx.Raw(`INSERT INTO rate_windows (key, starts_at, count) VALUES (?, ?, ?)
				ON CONFLICT (key, starts_at) DO UPDATE SET count = rate_windows.count + excluded.count RETURNING count`,
				s.Name, start, s.Count).Find(&totals[i]).Error
			if err != nil {
				return err
			}
		}
		return tx.Where("starts_at < ?", start.Add(-Window)).Delete(&models.RateWindow{}).Error
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.start.Equal(start) {
		return nil
	}
	for i, s := range shares {
		c := l.callers[s.Name]
		c.shared, c.pending = totals[i], c.pending-s.Count
	}
	return nil
}

// pending lists what is to be added, by name: replicas that lock the same rows
// in the same order never deadlock.
func (l *Limiter) pending() (time.Time, []share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(l.now())
	var shares []share
	for name, c := range l.callers {
		if c.pending > 0 {
			shares = append(shares, share{name, c.pending})
		}
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.Name, b.Name) })
	return l.start, shares
}
