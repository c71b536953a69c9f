package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"cointill/core/clock"
	"cointill/models"
)

// Handler does what rows stand for.
type Handler[T any] interface {
	// Key is the row's value of the table's Key column; "" when there is none.
	Key(row T) string
	// Work makes one attempt and settles the row. When ctx ends the program is
	// stopping: what can be given back undone should be. An error says that
	// the attempt couldn't be settled; the row comes back when its lease ends.
	Work(ctx context.Context, row T) error
}

// Options tune a worker. Zero values are replaced by the defaults named here.
type Options struct {
	Clock clock.Clock   // required
	Pool  int           // attempts under way at once: 512, as most of them wait for others' servers
	Share int           // of these, of one key: 2
	Poll  time.Duration // how often to look for what other processes wrote: 500 ms
	Grace time.Duration // how long Run waits for attempts under way when it is stopped: 7 s
	Log   *slog.Logger  // slog.Default()
}

// batch bounds one claim, so that a long queue doesn't hold SQLite's writer for long.
const batch = 100

// Worker claims rows of one table and has them worked on. It is safe for concurrent use.
type Worker[T any] struct {
	db      *models.DB
	table   Table
	handler Handler[T]
	options Options
	wake    chan struct{}

	mu      sync.Mutex
	running int
	busy    map[string]int
	all     sync.WaitGroup
}

// NewWorker makes the worker of a table.
func NewWorker[T any](db *models.DB, table Table, handler Handler[T], o Options) *Worker[T] {
	o.Pool, o.Share = orDefault(o.Pool, 512), orDefault(o.Share, 2)
	o.Poll, o.Grace = orDefault(o.Poll, 500*time.Millisecond), orDefault(o.Grace, 7*time.Second)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if table.Key == "" {
		o.Share = o.Pool
	}
	return &Worker[T]{db: db, table: table, handler: handler, options: o, wake: make(chan struct{}, 1), busy: map[string]int{}}
}

func orDefault[N int | time.Duration](value, otherwise N) N {
	if value <= 0 {
		return otherwise
	}
	return value
}

// Signal wakes the worker: rows were committed. It never blocks.
func (w *Worker[T]) Signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, then waits up to Grace for what is under way, ends
// the rest, and returns nil. A database that fails is tried again at each poll.
func (w *Worker[T]) Run(ctx context.Context) error {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	poll := time.NewTicker(w.options.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		started, err := w.start(ctx, work, w.options.Clock(), nil)
		if err != nil && ctx.Err() == nil {
			w.options.Log.Error("claiming work failed", "table", w.table.Name, "error", err)
		}
		if err == nil && started > 0 {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-poll.C:
		}
	}
	if !w.idle(w.options.Grace) {
		abort()
		w.idle(2 * time.Second) // for what was cut short to be given back
	}
	return nil
}

// idle waits until nothing is under way, at most for a time.
func (w *Worker[T]) idle(atMost time.Duration) bool {
	done := make(chan struct{})
	go func() { w.all.Wait(); close(done) }()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Step works on everything that is due at this moment and waits until that is
// done. It returns how many attempts were made. It is for tests and for the
// demo; in service Run is used.
func (w *Worker[T]) Step(ctx context.Context) (n int, err error) {
	now := w.options.Clock()
	for {
		var round collector
		started, claimErr := w.start(ctx, ctx, now, &round)
		round.wg.Wait()
		n, err = n+started, errors.Join(err, claimErr, round.err)
		if started == 0 || claimErr != nil {
			return n, err
		}
	}
}

// collector gathers what became of the rows of one step.
type collector struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	err error
}

// start claims as many rows as there is room for, and sets each to work.
func (w *Worker[T]) start(ctx, work context.Context, now time.Time, c *collector) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock() // held over the claim: it counts on the numbers
	room := min(w.options.Pool-w.running, batch)
	if room <= 0 {
		return 0, nil
	}
	rows, err := claim[T](ctx, w.db, w.table, bid{now: now, limit: room, share: w.options.Share, busy: w.busy})
	for _, row := range rows {
		key := w.handler.Key(row)
		w.running++
		w.busy[key]++
		w.all.Add(1)
		if c != nil {
			c.wg.Add(1)
		}
		go w.one(work, row, key, c)
	}
	return len(rows), err
}

// one works on a row. A panic costs the attempt, not the program.
func (w *Worker[T]) one(ctx context.Context, row T, key string, c *collector) {
	err := w.attempt(ctx, row)
	if err != nil {
		w.options.Log.Error("an attempt could not be settled", "table", w.table.Name, "key", key, "error", err)
	}
	w.mu.Lock()
	w.running--
	if w.busy[key]--; w.busy[key] == 0 {
		delete(w.busy, key)
	}
	w.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		c.err = errors.Join(c.err, err)
		c.mu.Unlock()
		c.wg.Done()
	}
	w.all.Done()
	w.Signal() // there is room again
}

func (w *Worker[T]) attempt(ctx context.Context, row T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return w.handler.Work(ctx, row)
}
