package payment_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/models"
)

// messageCount counts the records of one message that are logged.
type messageCount struct {
	slog.Handler
	message string
	count   atomic.Int64
}

func (m *messageCount) Enabled(context.Context, slog.Level) bool { return true }

func (m *messageCount) Handle(_ context.Context, r slog.Record) error {
	if r.Message == m.message {
		m.count.Add(1)
	}
	return nil
}

// countLogged counts the records of a message until the test ends.
func countLogged(t *testing.T, message string) *messageCount {
	t.Helper()
	logged, before := &messageCount{message: message}, slog.Default()
	slog.SetDefault(slog.New(logged))
	t.Cleanup(func() { slog.SetDefault(before) })
	return logged
}

// runUntil runs a loop until a condition holds, or for 20 seconds.
func runUntil(t *testing.T, run func(ctx context.Context) error, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		defer cancel()
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for wait := 50; wait > 0; { // a while longer, for what the loop must not do then
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if wait < 50 || holds() {
				wait--
			}
		}
	}()
	if err := run(ctx); err != nil {
		t.Errorf("the loop returns %v, want nothing at the end of its context", err)
	}
}

// askedNetworks counts how often it is asked whether a network is followed, which each sweep does once for
// each network.
type askedNetworks struct {
	payment.Networks
	count atomic.Int64
}

func (a *askedNetworks) Followed(network string) bool {
	a.count.Add(1)
	return a.Networks.Followed(network)
}

// TestSweepsRepeatWhileMoreIsDue checks that a full batch is followed by the next at once, unless it failed:
// then, and after the last batch, the interval passes.
func TestSweepsRepeatWhileMoreIsDue(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		const batch = 200
		first := b.view(b.initiate().Reference).Payment
		rows := make([]models.Payment, batch) // with the first they are one more than a batch
		for i := range rows {
			of := fmt.Sprint(" ", i)
			rows[i] = first
			rows[i].ID, rows[i].Reference, rows[i].BusinessReference, rows[i].TokenHash = 0, of, of, of
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(rows, 100).Error)
		b.clock.Advance(time.Second)
		last := b.initiate().Reference
		setDue := func(due string) {
			t.Helper()
			must(t, b.db.Exec(t.Context()).Exec("UPDATE payments SET due = ? WHERE reference <> ?", due, last).Error)
		}
		pending := func() (n int64) { b.count(&n, &models.Payment{}, "status = ?", string(payment.Pending)); return n }
		logged := countLogged(t, "sweep of deadlines failed")
		sweeps := func(ctx context.Context) error { return b.service.RunSweeps(ctx, time.Hour) }
		signals := 0
		b.service.Changed = func() { signals++ }
		if n, err := b.service.Sweep(t.Context()); n != 0 || err != nil || signals != 0 {
			t.Errorf("before anything is due a sweep reads %d payments (%v) and signals %d changes, want none", n, err,
				signals)
		}
		due := b.view(last).Payment.DueAt
		b.clock.Advance(payment.Window)
		setDue("NaN") // which can't be read
		runUntil(t, sweeps, func() bool { return logged.count.Load() > 0 })
		if got := pending(); got != batch+2 || logged.count.Load() != 1 {
			t.Errorf("after a batch that failed %d errors are logged, and %d payments are pending, want 1 and %d",
				logged.count.Load(), got, batch+2)
		}
		if got := b.view(last).Payment.DueAt; !equalTimes(got, due) {
			t.Errorf("a payment that was not evaluated is due at %v, want %v", got, due)
		}
		setDue(first.Due.String())
		b.clock.Advance(time.Minute)
		runUntil(t, sweeps, func() bool { return pending() == 0 })
		if got := pending(); got != 0 || logged.count.Load() != 1 {
			t.Errorf("after a full batch %d payments are pending and %d errors are logged, want 0 and 1", got,
				logged.count.Load())
		}
		asked := &askedNetworks{Networks: b.service.Networks}
		b.service.Networks = asked
		runUntil(t, sweeps, func() bool { return true })
		if n := asked.count.Load(); n != 1 {
			t.Errorf("%d sweeps find nothing, want that the interval passes after one", n)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := sweeps(ended); err != nil || logged.count.Load() != 1 {
			t.Errorf("a context that ended returns %v and has %d errors logged, want nothing more", err, logged.count.Load())
		}
	})
}

// TestUnreadableHealthIsLogged checks that the registry logs that it can't read the networks, and not that
// its context ended.
func TestUnreadableHealthIsLogged(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		registry := b.service.Networks.(*networks.Registry)
		logged := countLogged(t, "health of the networks can't be read")
		read := func() bool { return b.service.Networks.Problem("bitcoin-mainnet").String() != "" }
		runUntil(t, registry.Run, read)
		ended, end := context.WithCancel(t.Context())
		end()
		if err := registry.Run(ended); err != nil || logged.count.Load() != 0 {
			t.Errorf("with a database that can be read, and at the end, %d errors are logged (%v), want none",
				logged.count.Load(), err)
		}
		b.unbooked = true
		must(t, b.db.Close())
		runUntil(t, registry.Run, func() bool { return logged.count.Load() > 0 })
		if logged.count.Load() != 1 {
			t.Errorf("with a database that is closed %d errors are logged, want 1", logged.count.Load())
		}
	})
}
