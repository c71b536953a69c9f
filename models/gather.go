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
	// gatherTime is how long one question of a Gather may take: as long as a request may.
	gatherTime = 15 * time.Second
	// gatherPatience is how long the next question waits for the end of one.
	gatherPatience = 100 * time.Millisecond
)

// Gather answers what many requests ask at once with few queries: those that come
// while one is under way wait for its end, but not long, and are asked together by the
// next. No answer was read before it was asked for, and none is kept. Groups are asked
// apart. The zero value is ready.
type Gather[G comparable, K, A any] struct {
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

// Get gives what is answered to the round that a key is asked for in: it is
// shared, and only to be read. ask is how a group's keys are looked up, the same for all.
func (g *Gather[G, K, A]) Get(ctx context.Context, of G, key K, ask func(ctx context.Context, of G, keys []K) (A, error)) (answer A, err error) {
	mine := g.join(ctx, of, key, ask)
	select {
	case <-mine.done:
		return mine.answer, mine.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// join puts a key into the group's next round, and sees to it that somebody works on it.
func (g *Gather[G, K, A]) join(ctx context.Context, of G, key K, ask func(context.Context, G, []K) (A, error)) *round[K, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[G]*round[K, A]{}
	}
	mine, busy := g.groups[of]
	if !busy {
		mine = &round[K, A]{done: make(chan struct{})}
		g.groups[of] = mine
		go g.work(context.WithoutCancel(ctx), of, ask)
	}
	mine.keys = append(mine.keys, key)
	return mine
}

// work asks for a group's rounds until nobody waits. When an answer is long in coming,
// as over a connection that hangs, another goes on with the rounds after it.
func (g *Gather[G, K, A]) work(ctx context.Context, of G, ask func(context.Context, G, []K) (A, error)) {
	for mine := g.take(of); len(mine.keys) > 0; mine = g.take(of) {
		instead := time.AfterFunc(gatherPatience, func() { g.work(ctx, of, ask) })
		mine.answer, mine.err = asked(ctx, of, mine.keys, ask)
		close(mine.done)
		if !instead.Stop() {
			return
		}
	}
}

// take is the round that is to be asked for now, and begins the next; an empty one ends the group.
func (g *Gather[G, K, A]) take(of G) *round[K, A] {
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

// asked makes a panic an error: nobody else would catch it here.
func asked[G, K, A any](ctx context.Context, of G, keys []K, ask func(context.Context, G, []K) (A, error)) (answer A, err error) {
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
	list, err := json.Marshal(values)
	if err != nil {
		_ = query.AddError(err)
	}
	if !IsPostgres(query) {
		return query.Where(column+" IN (SELECT value FROM json_each(?))", string(list))
	}
	kind := "text"
	if _, number := any(values[0]).(int64); number {
		kind = "bigint"
	}
	return query.Where(column+" = ANY(ARRAY(SELECT jsonb_array_elements_text(?::jsonb)::"+kind+"))", string(list))
}
