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

// Handler does what rows stand for.
type Handler[T any] interface {
	// Key is the row's value of the table's Key column; "" when there is none.
	Key(row T) string
	// Work makes one attempt and settles the row. When ctx ends the program is
	// stopping: what can be given back undone should be. An error says that
	// the attempt couldn't be settled; the row comes back when its lease ends.
	Work(ctx context.Context, row T) error
}

// Work makes one attempt, and returns what waits until it is settled: the next
// attempt need not wait for that.
type Work func(ctx context.Context) (settled func() error)

// Batcher is a Handler that serves whole claims, which spares the database: it
// is used in place of Work. Rows of it may also wait here until others of their key are over.
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
	batch = 500                  // bounds one claim, so that a long queue doesn't hold SQLite's writer for long
	ahead = 1024                 // rows of a quick key that wait here for their turn
	few   = 2 * batch            // due rows that are read one by one; if there are more, keys are looked at instead
	gap   = 5 * time.Millisecond // between claims when nothing is left to claim: what comes meanwhile is claimed together

	mostGap = 100 * time.Millisecond // the gap after a claim that took long: so claims leave the database half of its time

	mostAhead = 4096 // rows that wait here in all: their events are in memory
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
	lines    map[string]*line[T]
	under    map[*attempt]struct{}
	held     int            // attempts under way, and those that a claim keeps a place for
	groups   map[string]int // of these, in each group
	all      sync.WaitGroup
}

// NewWorker makes the worker of a table.
func NewWorker[T any](db *models.DB, table Table, handler Handler[T], o Options) *Worker[T] {
	o.Pool, o.Share = orDefault(o.Pool, 512), orDefault(o.Share, 2)
	o.Poll, o.Grace, o.Slow = orDefault(o.Poll, 500*time.Millisecond), orDefault(o.Grace, 7*time.Second), orDefault(o.Slow, 2*time.Second)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	batcher, _ := handler.(Batcher[T])
	return &Worker[T]{db: db, table: table, handler: handler, batcher: batcher, options: o, wake: make(chan struct{}, 1),
		lines: map[string]*line[T]{}, under: map[*attempt]struct{}{}, groups: map[string]int{}}
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
		began := w.options.Clock()
		more, err := w.start(ctx, work, w.options.Clock(), nil)
		if err != nil && ctx.Err() == nil {
			w.options.Log.Error("claiming work failed", "table", w.table.Name, "error", err)
		}
		if err == nil && more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(gap, w.options.Clock().Sub(began)), mostGap)):
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-poll.C:
		}
	}
	w.putBack(work, nil)
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
		more, claimErr := w.start(ctx, ctx, now, &round)
		round.wg.Wait()
		n, err = n+round.n, errors.Join(err, claimErr, round.err)
		if claimErr != nil || round.n == 0 && !more {
			return n, err
		}
	}
}

// collector gathers what became of the rows of one step.
type collector struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	n   int
	err error
}

// start claims as many rows as there is room for, and sets each to work. more
// says that there may be others for which there is room, too.
func (w *Worker[T]) start(ctx, work context.Context, now time.Time, c *collector) (more bool, err error) {
	w.claiming.Lock()
	defer w.claiming.Unlock()
	if found, err := w.table.due(ctx, w.db, now); err != nil || !found {
		return false, err
	}
	ids, chosen, more, err := w.candidates(ctx, now)
	defer func() { w.free(chosen) }()
	if err != nil || len(ids) == 0 {
		return false, err
	}
	rows, err := take[T](ctx, w.db, w.table, now, ids)
	if err != nil || len(rows) == 0 {
		return err == nil, err // another process was faster
	}
	works, err := w.load(work, rows)
	if err != nil {
		return false, err
	}
	w.begin(work, now, rows, works, c)
	return more || len(rows) > len(chosen) && len(chosen) > 0, nil
}

// candidates are the ids of rows to claim, and the first of each key among
// them, for which a place is kept.
func (w *Worker[T]) candidates(ctx context.Context, now time.Time) (ids []int64, chosen []place, more bool, err error) {
	if w.table.Key == "" {
		w.mu.Lock()
		room := min(w.options.Pool-w.held, batch)
		w.mu.Unlock()
		if room > 0 {
			ids, err = w.table.oldest(ctx, w.db, now, room)
		}
		return ids, nil, len(ids) == batch, err
	}
	heads, behind, err := w.look(ctx, now)
	if err != nil {
		return nil, nil, false, err
	}
	chosen, room, more := w.choose(heads, now)
	if len(room) > 0 && behind == nil {
		if behind, err = w.table.front(ctx, w.db, now, slices.Collect(maps.Keys(room)), min(batch/len(chosen), ahead)+1); err != nil {
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

// look reads the oldest due row of each key. When little is due that comes with
// all the others behind them; when much is, behind is nil.
func (w *Worker[T]) look(ctx context.Context, now time.Time) (heads, behind []place, err error) {
	if w.crowded--; w.crowded < 0 {
		all, err := w.table.shortest(ctx, w.db, now, few)
		if err != nil {
			return nil, nil, err
		}
		if len(all) < few {
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
	heads, err = w.table.heads(ctx, w.db, now)
	return heads, nil, err
}

// load makes the work of claimed rows.
func (w *Worker[T]) load(ctx context.Context, rows []T) ([]Work, error) {
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
