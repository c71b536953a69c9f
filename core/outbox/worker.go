package outbox

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"cointill/core/clock"
	"cointill/models"
)

// Handler carries out the work of rows.
type Handler[T any] interface {
	// Key is the row's value of the table's Key column; "" when there is none.
	Key(row T) string
	// Work makes one attempt and settles the row. When ctx ends, the program is
	// stopping, and an attempt that has not begun should return its row. An error means
	// that the attempt couldn't be settled; the row is due again when its lease ends.
	Work(ctx context.Context, row T) error
}

// Work makes one attempt and returns a function that waits until it is settled. The next
// attempt doesn't wait for that.
type Work func(ctx context.Context) (settled func() error)

// Batcher is a Handler that works on whole claims, which takes fewer statements. It is used in
// place of Work, and allows rows to wait in the queue of their key.
type Batcher[T any] interface {
	Handler[T]
	// Load reads what the rows need and returns the work of each. It may put
	// the rows in another order, in which they are then worked on.
	Load(ctx context.Context, rows []T) ([]Work, error)
	// Return gives rows back that were not begun.
	Return(ctx context.Context, rows []T) error
}

// Options tune a worker. Zero values are replaced by the defaults named here.
type Options struct {
	Clock clock.Clock   // required
	Pool  int           // attempts under way at once: 512, as most of them wait for others' servers
	Share int           // of these, of one key: 2
	Poll  time.Duration // how often to look for what other processes wrote: 500 ms
	Grace time.Duration // how long Run waits for attempts under way when it is stopped: 7 s
	Log   *slog.Logger  // slog.Default()
	// GroupShare is how many attempts of one group may be under way; 0 for any number.
	GroupShare int
	// Slow is how long an attempt takes that makes its key a slow one: 2 s.
	Slow time.Duration
}

const (
	claimBatch   = 500            // bounds one claim, so that a long queue doesn't hold SQLite's writer for long
	smallBacklog = 2 * claimBatch // up to so many due rows are read one by one; beyond, only the heads of keys

	maxPrefetch      = 1024 // rows of a fast key that wait in its queue
	maxPrefetchInAll = 4096 // rows in all queues: their events are in memory

	claimInterval    = 5 * time.Millisecond   // pause before the next claim: rows written in it are claimed together
	maxClaimInterval = 100 * time.Millisecond // pause after a slow claim: the database is free half of its time
)

// Worker claims rows of one table and has them worked on. It is safe for concurrent use.
type Worker[T any] struct {
	db      *models.DB
	table   Table
	handler Handler[T]
	batcher Batcher[T] // the handler, when it is one
	options Options
	wake    chan struct{}

	claiming sync.Mutex // held over a claim, which counts on what the last one began
	crowded  int        // claims for which much was due
	mu       sync.Mutex
	queues   map[string]*keyQueue[T]
	under    map[*runningAttempt]struct{}
	held     int            // attempts under way, and those that a claim keeps a place for
	groups   map[string]int // of these, in each group
	all      sync.WaitGroup
}

// NewWorker makes the worker of a table.
func NewWorker[T any](db *models.DB, table Table, handler Handler[T], o Options) *Worker[T] {
	o.Pool, o.Share = orDefault(o.Pool, 512), orDefault(o.Share, 2)
	o.Poll, o.Grace, o.Slow = orDefault(o.Poll, 500*time.Millisecond), orDefault(o.Grace, 7*time.Second),
		orDefault(o.Slow, 2*time.Second)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	batcher, _ := handler.(Batcher[T])
	return &Worker[T]{db: db, table: table, handler: handler, batcher: batcher, options: o,
		wake:   make(chan struct{}, 1),
		queues: map[string]*keyQueue[T]{}, under: map[*runningAttempt]struct{}{}, groups: map[string]int{}}
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

// Run works until ctx ends, then waits up to Grace for running attempts, cancels the rest, and
// returns nil. After an error of the database it tries again at each poll.
func (w *Worker[T]) Run(ctx context.Context) error {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	poll := time.NewTicker(w.options.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		began := w.options.Clock()
		more, err := w.claimAndStart(ctx, work, w.options.Clock(), nil)
		if err != nil && ctx.Err() == nil {
			w.options.Log.Error("claiming work failed", "table", w.table.Name, "error", err)
		}
		if err == nil && more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(claimInterval, w.options.Clock().Sub(began)), maxClaimInterval)):
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-poll.C:
		}
	}
	w.returnQueued(work, nil)
	if !w.waitUntilIdle(w.options.Grace) {
		abort()
		w.waitUntilIdle(2 * time.Second) // cancelled attempts return their rows
	}
	return nil
}

// waitUntilIdle waits until no attempt is running, up to a time.
func (w *Worker[T]) waitUntilIdle(atMost time.Duration) bool {
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

// Step works on all rows that are due at this moment and waits until they are done. It returns
// how many attempts were made. It is for tests and the demo; a server uses Run.
func (w *Worker[T]) Step(ctx context.Context) (n int, err error) {
	now := w.options.Clock()
	for {
		var round stepResult
		more, claimErr := w.claimAndStart(ctx, ctx, now, &round)
		round.wg.Wait()
		n, err = n+round.n, errors.Join(err, claimErr, round.err)
		if claimErr != nil || round.n == 0 && !more {
			return n, err
		}
	}
}

// stepResult collects the results of one step.
type stepResult struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	n   int
	err error
}

// claimAndStart claims as many rows as there are slots for, and starts their attempts. more
// reports that other rows may have room too.
func (w *Worker[T]) claimAndStart(ctx, work context.Context, now time.Time, c *stepResult) (more bool, err error) {
	w.claiming.Lock()
	defer w.claiming.Unlock()
	if found, err := w.table.hasDueRows(ctx, w.db, now); err != nil || !found {
		return false, err
	}
	ids, chosen, more, err := w.listCandidates(ctx, now)
	defer func() { w.releaseSlots(chosen) }()
	if err != nil || len(ids) == 0 {
		return false, err
	}
	rows, err := claimRows[T](ctx, w.db, w.table, now, ids)
	if err != nil || len(rows) == 0 {
		return err == nil, err // another process was faster
	}
	works, err := w.makeWorks(work, rows)
	if err != nil {
		return false, err
	}
	w.startRows(work, now, rows, works, c)
	return more || len(rows) > len(chosen) && len(chosen) > 0, nil
}

// listCandidates returns the ids of rows to claim, and the first row of each key among them,
// for which a slot is reserved.
func (w *Worker[T]) listCandidates(ctx context.Context, now time.Time) (ids []int64, chosen []dueRow, more bool,
	err error) {
	if w.table.Key == "" {
		w.mu.Lock()
		room := min(w.options.Pool-w.held, claimBatch)
		w.mu.Unlock()
		if room > 0 {
			ids, err = w.table.readOldest(ctx, w.db, now, room)
		}
		return ids, nil, len(ids) == claimBatch, err
	}
	heads, behind, err := w.readHeads(ctx, now)
	if err != nil {
		return nil, nil, false, err
	}
	chosen, room, more := w.chooseHeads(heads, now)
	if len(room) > 0 && behind == nil {
		if behind, err = w.table.readFront(ctx, w.db, now, slices.Collect(maps.Keys(room)),
			min(claimBatch/len(chosen), maxPrefetch)+1); err != nil {
			return nil, chosen, false, err
		}
	}
	taken := make(map[int64]bool, len(chosen))
	for _, h := range chosen {
		ids = append(ids, h.ID)
		taken[h.ID] = true
	}
	for _, other := range behind {
		if room[other.Key] > 0 && !taken[other.ID] {
			room[other.Key]--
			ids = append(ids, other.ID)
		}
	}
	return ids, chosen, more, nil
}

// readHeads reads the oldest due row of each key. When few rows are due it returns all of them
// in behind; otherwise behind is nil.
func (w *Worker[T]) readHeads(ctx context.Context, now time.Time) (heads, behind []dueRow, err error) {
	if w.crowded--; w.crowded < 0 {
		all, err := w.table.readBacklog(ctx, w.db, now, smallBacklog)
		if err != nil {
			return nil, nil, err
		}
		if len(all) < smallBacklog {
			seen := map[string]bool{}
			for _, one := range all {
				if !seen[one.Key] {
					heads = append(heads, one)
				}
				seen[one.Key] = true
			}
			return heads, all, nil
		}
		w.crowded = 20 // claims until it is asked again whether little is due
	}
	heads, err = w.table.readHeads(ctx, w.db, now)
	return heads, nil, err
}

// makeWorks returns the work of claimed rows.
func (w *Worker[T]) makeWorks(ctx context.Context, rows []T) ([]Work, error) {
	if w.batcher != nil {
		works, err := w.batcher.Load(ctx, rows)
		if err != nil {
			err = errors.Join(err, w.batcher.Return(context.WithoutCancel(ctx), rows))
		}
		return works, err
	}
	works := make([]Work, len(rows))
	for i, row := range rows {
		works[i] = func(ctx context.Context) func() error {
			err := w.handler.Work(ctx, row)
			return func() error { return err }
		}
	}
	return works, nil
}
