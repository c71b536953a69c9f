package models

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// gatherTime is how long one question of a Gather may take: as long as a request may.
const gatherTime = 15 * time.Second

// sideBySide is how many queries of one group run at a time: while one's answers
// are on their way, the database works on another.
const sideBySide = 2

// Gather answers what many requests ask at once with few queries: those that come
// while others are under way wait for one to end, and are asked together by the
// next. No answer was read before it was asked for, and none is kept. Groups are
// asked apart. The zero value is ready.
type Gather[G comparable, K, A any] struct {
	mu     sync.Mutex
	groups map[G]*group[K, A] // those that are being asked for
}

type group[K, A any] struct {
	next    *round[K, A] // collects keys until a worker takes it
	workers int
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
		g.groups = map[G]*group[K, A]{}
	}
	now := g.groups[of]
	if now == nil {
		now = &group[K, A]{}
		g.groups[of] = now
	}
	if now.next == nil {
		now.next = &round[K, A]{done: make(chan struct{})}
	}
	now.next.keys = append(now.next.keys, key)
	if now.workers < sideBySide {
		now.workers++
		go g.work(context.WithoutCancel(ctx), of, ask)
	}
	return now.next
}

// work asks for a group's rounds until nobody waits.
func (g *Gather[G, K, A]) work(ctx context.Context, of G, ask func(context.Context, G, []K) (A, error)) {
	for mine := g.take(of); mine != nil; mine = g.take(of) {
		mine.answer, mine.err = asked(ctx, of, mine.keys, ask)
		close(mine.done)
	}
}

// take is the round that a worker is to ask for, nil when it is to end.
func (g *Gather[G, K, A]) take(of G) *round[K, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.groups[of]
	mine := now.next
	now.next = nil
	if mine == nil {
		now.workers--
		if now.workers == 0 {
			delete(g.groups, of)
		}
	}
	return mine
}

// asked makes a panic an error: nobody else would catch it here.
func asked[G, K, A any](ctx context.Context, of G, keys []K, ask func(context.Context, G, []K) (A, error)) (answer A, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
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
