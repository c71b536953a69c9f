package models

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// gatherTime is how long one question of a Batcher may take: as long as a request may.
	gatherTime = 15 * time.Second
	// gatherPatience is how long the next question waits for the end of one.
	gatherPatience = 100 * time.Millisecond
)

// Batcher answers the same kind of query for many requests with few queries. Requests that
// arrive while a query runs wait for its end, but not long, and are answered together by the
// next one. An answer is never older than its request, and none is kept. Groups are queried
// apart. The zero value is ready.
type Batcher[G comparable, K, A any] struct {
	mu     sync.Mutex
	groups map[G]*round[K, A] // what the next query of each group that is being asked for asks
}

// round is what one query asks for.
type round[K, A any] struct {
	keys   []K
	done   chan struct{}
	answer A
	err    error
}

// Get returns the answer of the round in which a key is read. It is shared, so callers only
// read it. ask reads the keys of a group.
func (g *Batcher[G, K, A]) Get(ctx context.Context, of G, key K, ask func(ctx context.Context, of G, keys []K) (A,
	error)) (answer A, err error) {
	mine := g.joinRound(ctx, of, key, ask)
	select {
	case <-mine.done:
		return mine.answer, mine.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// joinRound adds a key to the group's next round and starts a goroutine for it when none runs.
func (g *Batcher[G, K, A]) joinRound(ctx context.Context, of G, key K,
	ask func(context.Context, G, []K) (A, error)) *round[K, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[G]*round[K, A]{}
	}
	mine, busy := g.groups[of]
	if !busy {
		mine = &round[K, A]{done: make(chan struct{})}
		g.groups[of] = mine
		go g.runRounds(context.WithoutCancel(ctx), of, ask)
	}
	mine.keys = append(mine.keys, key)
	return mine
}

// runRounds reads a group's rounds until none is waiting. When an answer takes long, on a
// connection that hangs for example, another goroutine continues with the rounds after it.
func (g *Batcher[G, K, A]) runRounds(ctx context.Context, of G, ask func(context.Context, G, []K) (A, error)) {
	for mine := g.takeRound(of); len(mine.keys) > 0; mine = g.takeRound(of) {
		instead := time.AfterFunc(gatherPatience, func() { g.runRounds(ctx, of, ask) })
		mine.answer, mine.err = askSafely(ctx, of, mine.keys, ask)
		close(mine.done)
		if !instead.Stop() {
			return
		}
	}
}

// takeRound returns the round to read now and starts the next; an empty one ends the group.
func (g *Batcher[G, K, A]) takeRound(of G) *round[K, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine := g.groups[of]
	if len(mine.keys) == 0 {
		delete(g.groups, of)
	} else {
		g.groups[of] = &round[K, A]{done: make(chan struct{})}
	}
	return mine
}

// askSafely turns a panic into an error, because it runs outside of a request's recovery.
func askSafely[G, K, A any](ctx context.Context, of G, keys []K,
	ask func(context.Context, G, []K) (A, error)) (answer A, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, gatherTime)
	defer cancel()
	return ask(ctx, of, keys)
}

// Among limits a query to the rows whose column is one of the values. However
// many there are, it is the same statement, so that it is prepared once.
func Among[T ~string | ~int64](query *Tx, column string, values []T) *Tx {
	list, err := json.Marshal(append([]T{}, values...)) // no values are [], not null
	if err != nil {
		_ = query.AddError(err)
	}
	if !IsPostgres(query) {
		return query.Where(column+" IN (SELECT value FROM json_each(?))", string(list))
	}
	kind := "text"
	var zero T
	if _, number := any(zero).(int64); number {
		kind = "bigint"
	}
	return query.Where(column+" = ANY(ARRAY(SELECT jsonb_array_elements_text(?::jsonb)::"+kind+"))", string(list))
}

// ReadPage reads a page of a query's rows, those with the highest ids first. It begins below the id before, with 0 at
// the highest. next is the before of the next page, 0 at the end.
func ReadPage[Row any](query *Tx, before int64, limit int, id func(Row) int64) (rows []Row, next int64, err error) {
	if before > 0 {
		query = query.Where("id < ?", before)
	}
	err = query.Order("id DESC").Limit(limit + 1).Find(&rows).Error
	if len(rows) > limit {
		rows, next = rows[:limit], id(rows[limit-1])
	}
	return rows, next, err
}
