package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/models"
	"cointill/models/modelstest"
)

var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	table = outbox.Table{Name: "deliveries", Key: "endpoint_id", Lease: 40 * time.Second}
)

// handler is work that a test controls: it reports what it took, and settles
// by what do says.
type handler struct {
	db    *models.DB
	clock clock.Clock
	do    func(ctx context.Context, row models.Delivery) error

	mu      sync.Mutex
	running map[string]int
	most    map[string]int
	taken   map[int64]int
}

func newHandler(db *models.DB, now clock.Clock) *handler {
	return &handler{db: db, clock: now, running: map[string]int{}, most: map[string]int{}, taken: map[int64]int{}}
}

func (h *handler) Key(row models.Delivery) string { return row.EndpointID }

func (h *handler) Work(ctx context.Context, row models.Delivery) error {
	h.count(row, 1)
	defer h.count(row, -1)
	if h.do != nil {
		return h.do(ctx, row)
	}
	return h.done(ctx, row)
}

func (h *handler) done(ctx context.Context, row models.Delivery) error {
	_, err := table.Settle(h.db.Exec(context.WithoutCancel(ctx)), row.ID, row.Attempt, map[string]any{"done_at": h.clock(), "outcome": "delivered"})
	return err
}

func (h *handler) count(row models.Delivery, by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[row.EndpointID] += by
	h.most[row.EndpointID] = max(h.most[row.EndpointID], h.running[row.EndpointID])
	if by > 0 {
		h.taken[row.ID]++
	}
}

// once reports whether every row of the first n was taken exactly once.
func (h *handler) once(t *testing.T, n int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.taken) != n {
		t.Errorf("%d rows were taken, want %d", len(h.taken), n)
	}
	for id, times := range h.taken {
		if times != 1 {
			t.Errorf("row %d was taken %d times", id, times)
		}
	}
}

func queue(t *testing.T, db *models.DB, endpoint string, n int) {
	t.Helper()
	rows := make([]models.Delivery, n)
	for i := range rows {
		rows[i] = models.Delivery{EventID: fmt.Sprintf("evt_%s_%d", endpoint, i), EndpointID: endpoint, BusinessID: 1, Domain: "test", DueAt: start, CreatedAt: start}
	}
	if err := db.Exec(t.Context()).CreateInBatches(rows, 50).Error; err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, db *models.DB) models.Delivery {
	t.Helper()
	var d models.Delivery
	if err := db.Read(t.Context()).Take(&d).Error; err != nil {
		t.Fatal(err)
	}
	return d
}

func step(t *testing.T, w *outbox.Worker[models.Delivery]) int {
	t.Helper()
	n, err := w.Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTwoWorkers lets two processes work through one queue: each row once.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		for i := range 5 {
			queue(t, db, fmt.Sprintf("whk_%d", i), 20)
		}
		var both sync.WaitGroup
		for range 2 {
			w := outbox.NewWorker(db, table, h, outbox.Options{Clock: now.Now, Pool: 8, Share: 3})
			both.Go(func() {
				if _, err := w.Step(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		h.once(t, 100)
	})
}

// TestShare (WH-8, WH-9) keeps an endpoint that answers nothing at its share, while
// every other is served; also when claims follow one another.
func TestShare(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		release, served := make(chan struct{}), make(chan struct{}, 200)
		h.do = func(ctx context.Context, row models.Delivery) error {
			if row.EndpointID == "whk_dead" {
				<-release
			} else {
				served <- struct{}{}
			}
			return h.done(ctx, row)
		}
		queue(t, db, "whk_dead", 300)
		for i := range 10 {
			queue(t, db, fmt.Sprintf("whk_%d", i), 7)
		}
		w := outbox.NewWorker(db, table, h, outbox.Options{Clock: now.Now, Pool: 12, Share: 3, Poll: 10 * time.Millisecond})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- w.Run(ctx) }()
		for range 70 {
			select {
			case <-served:
			case <-time.After(20 * time.Second):
				t.Fatal("the healthy endpoints starve")
			}
		}
		stop()
		close(release)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for endpoint, most := range h.most {
			if most > 3 {
				t.Errorf("%s had %d attempts at once, want at most 3", endpoint, most)
			}
		}
	})
}

// TestLease (WH-10) gives a row whose worker died to another when the lease ends, not
// before, and refuses what the dead one writes afterwards.
func TestLease(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		var first models.Delivery
		h.do = func(_ context.Context, row models.Delivery) error {
			first = row
			panic("the process dies between claim and settle")
		}
		queue(t, db, "whk_1", 1)
		quiet := outbox.Options{Clock: now.Now, Log: slog.New(slog.DiscardHandler)}
		w := outbox.NewWorker(db, table, h, quiet)
		if n, err := w.Step(t.Context()); n != 1 || err == nil {
			t.Fatalf("w.Step(t.Context()): n = %v, err = %v", n, err)
		}
		if d := row(t, db); d.ClaimedAt == nil || d.Attempt != 1 || d.DoneAt != nil {
			t.Errorf("after the crash: %+v", d)
		}
		h.do = nil
		now.Advance(table.Lease - time.Microsecond)
		if n := step(t, w); n != 0 {
			t.Fatal("claimed before the lease ended")
		}
		now.Advance(time.Microsecond)
		held := make(chan struct{})
		h.do = func(ctx context.Context, row models.Delivery) error {
			defer close(held)
			// The first worker wakes up while the second holds the row.
			settled, err := table.Settle(db.Exec(ctx), first.ID, first.Attempt, map[string]any{"done_at": now.Now(), "outcome": "cancelled"})
			if settled || err != nil {
				t.Error("the old attempt was settled", settled, err)
			}
			return h.done(ctx, row)
		}
		if n := step(t, w); n != 1 {
			t.Fatal("not claimed after the lease")
		}
		<-held
		if d := row(t, db); d.Outcome != "delivered" || d.Attempt != 2 || d.ClaimedAt != nil {
			t.Errorf("at the end: %+v", d)
		}
		if settled, err := table.Settle(db.Exec(t.Context()), first.ID, 2, map[string]any{"outcome": "cancelled"}); settled || err != nil {
			t.Error("a settled row was settled again", err)
		}
	})
}

// TestStop waits for what is under way, and ends what outlasts the grace.
func TestStop(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		began := make(chan struct{}, 2)
		finish, ended := make(chan struct{}), make(chan error, 1)
		h.do = func(ctx context.Context, row models.Delivery) error {
			began <- struct{}{}
			if row.EndpointID == "whk_patient" {
				<-finish
				if ctx.Err() != nil {
					t.Error("the grace was not given")
				}
				return h.done(ctx, row)
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil
		}
		queue(t, db, "whk_patient", 1)
		queue(t, db, "whk_endless", 1)
		w := outbox.NewWorker(db, table, h, outbox.Options{Clock: now.Now, Poll: time.Hour, Grace: 300 * time.Millisecond})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- w.Run(ctx) }()
		<-began
		<-began
		stop()
		queue(t, db, "whk_new", 1)
		w.Signal()
		close(finish)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		default:
			t.Error("what outlasted the grace was not ended before Run returned")
		}
		var done, claimed int64
		db.Read(t.Context()).Model(&models.Delivery{}).Where("done_at IS NOT NULL").Count(&done)
		db.Read(t.Context()).Model(&models.Delivery{}).Where("attempt > 0").Count(&claimed)
		if done != 1 || claimed != 2 {
			t.Errorf("%d done, %d claimed, want 1 and 2", done, claimed)
		}
	})
}

// TestSignal works at once on what is signalled, without waiting for the poll.
func TestSignal(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		served := make(chan struct{}, 1)
		h.do = func(ctx context.Context, row models.Delivery) error {
			defer func() { served <- struct{}{} }()
			return h.done(ctx, row)
		}
		w := outbox.NewWorker(db, table, h, outbox.Options{Clock: now.Now, Poll: time.Hour})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- w.Run(ctx) }()
		queue(t, db, "whk_1", 1)
		w.Signal()
		select {
		case <-served:
		case <-time.After(20 * time.Second):
			t.Error("the signal was not heard")
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// TestJitter (WH-9) stays within a tenth and isn't always the same.
func TestJitter(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 1000 {
		got := outbox.JitterWait(time.Hour)
		if got < 54*time.Minute || got > 66*time.Minute {
			t.Fatalf("%s", got)
		}
		if later := outbox.AddLater(time.Hour); later < time.Hour || later > 66*time.Minute {
			t.Fatalf("%s", later)
		}
		seen[got] = true
	}
	if len(seen) < 900 {
		t.Errorf("only %d different waits of 1,000", len(seen))
	}
	if outbox.JitterWait(0) != 0 || outbox.AddLater(0) != 0 {
		t.Error("no wait must stay none")
	}
	s := outbox.Schedule{time.Second}
	if _, left := s.Next(1); left {
		t.Error("the schedule has no end")
	}
}
