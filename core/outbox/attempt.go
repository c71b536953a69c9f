package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// begin puts claimed rows into their lines. Each key begins with one, for which
// its place was kept; then whoever may have more at once does.
func (w *Worker[T]) begin(ctx context.Context, now time.Time, rows []T, works []Work, c *collector) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var keys []string
	for i, row := range rows {
		key := w.handler.Key(row)
		l := w.line(key)
		l.asked = false
		l.waiting = append(l.waiting, held[T]{row: row, work: works[i], until: now.Add(w.table.Lease / 2)})
		if l.running == 0 || w.table.Key == "" {
			go w.serve(ctx, w.next(key, c), c)
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		for _, b := range w.pump(key, c) {
			go w.serve(ctx, b, c)
		}
	}
}

// pump takes what waits in a line as far as there is room. The lock is held.
func (w *Worker[T]) pump(key string, c *collector) (some []begun[T]) {
	l := w.line(key)
	for len(l.waiting) > 0 {
		grouped := l.group != "" && w.options.GroupShare > 0
		full := w.held >= w.options.Pool || grouped && w.groups[l.group] >= w.options.GroupShare
		if l.running > 0 && (full || l.temper != quick || l.running >= w.options.Share) {
			return some
		}
		some = append(some, w.next(key, c))
	}
	l.waiting = nil
	return some
}

// begun is a row whose attempt counts as under way.
type begun[T any] struct {
	held[T]
	*attempt
}

// next takes the first that waits in a line. The lock is held.
func (w *Worker[T]) next(key string, c *collector) begun[T] {
	l := w.line(key)
	h := l.waiting[0]
	l.waiting = l.waiting[1:]
	a := &attempt{key: key, group: l.group, began: w.options.Clock()}
	l.running++
	w.under[a] = struct{}{}
	w.keep(a.group, 1)
	w.all.Add(1)
	if c != nil {
		c.n++
		c.wg.Add(1)
	}
	return begun[T]{h, a}
}

// keep counts places that are taken. The lock is held.
func (w *Worker[T]) keep(group string, places int) {
	w.held += places
	if w.groups[group] += places; w.groups[group] == 0 {
		delete(w.groups, group)
	}
}

// free gives the places back that a claim kept: what came of it has its own.
func (w *Worker[T]) free(chosen []place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range chosen {
		w.keep(h.Group, -1)
	}
}

// serve makes an attempt, and after it those of its line that it made room for:
// one here, whose stack has grown already, others beside it.
func (w *Worker[T]) serve(ctx context.Context, b begun[T], c *collector) {
	for {
		settled, err := w.attempt(ctx, b.held)
		some := w.leave(ctx, b.attempt, c)
		go w.finish(b.key, settled, err, c)
		if len(some) == 0 {
			return
		}
		for _, other := range some[1:] {
			go w.serve(ctx, other, c)
		}
		b = some[0]
	}
}

// finish waits until an attempt is settled. A panic costs the attempt, not the program.
func (w *Worker[T]) finish(key string, settled func() error, err error, c *collector) {
	if err == nil {
		err = guarded(settled)
	}
	if err != nil {
		w.options.Log.Error("an attempt could not be settled", "table", w.table.Name, "key", key, "error", err)
	}
	if c != nil {
		c.mu.Lock()
		c.err = errors.Join(c.err, err)
		c.mu.Unlock()
		c.wg.Done()
	}
	w.all.Done()
}

func (w *Worker[T]) attempt(ctx context.Context, h held[T]) (settled func() error, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return h.work(ctx), nil
}

func guarded(settled func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return settled()
}

// leave takes an attempt off the list, remembers how it went, and returns what
// of its line begins now.
func (w *Worker[T]) leave(ctx context.Context, a *attempt, c *collector) (some []begun[T]) {
	now := w.options.Clock()
	w.mu.Lock()
	l := w.line(a.key)
	delete(w.under, a)
	w.keep(a.group, -1)
	l.running--
	l.temper, l.took = quick, now.Sub(a.began)
	if l.took >= w.options.Slow {
		l.temper = slow
	}
	late := l.temper == slow || len(l.waiting) > 0 && !now.Before(l.waiting[0].until)
	if !late && ctx.Err() == nil {
		some = w.pump(a.key, c)
	}
	low := len(l.waiting) == 0 || !l.asked && len(l.waiting) <= w.ahead(l)/2
	l.asked = true
	w.mu.Unlock()
	if late || ctx.Err() != nil {
		w.putBack(ctx, &a.key)
	}
	if low {
		w.Signal() // there is room again
	}
	return some
}

// putBack returns what waits in a line, or in every one, to the table.
func (w *Worker[T]) putBack(ctx context.Context, only *string) {
	w.mu.Lock()
	var rows []T
	for key, l := range w.lines {
		if only != nil && *only != key {
			continue
		}
		for _, h := range l.waiting {
			rows = append(rows, h.row)
		}
		l.waiting = nil
	}
	w.mu.Unlock()
	if len(rows) == 0 || w.batcher == nil {
		return
	}
	if err := w.batcher.Return(context.WithoutCancel(ctx), rows); err != nil {
		w.options.Log.Error("what was not begun comes back when its lease ends", "table", w.table.Name, "error", err)
	}
}
