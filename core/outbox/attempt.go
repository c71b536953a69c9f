package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// startRows puts claimed rows into their queues. Each key starts one attempt, for which a slot
// was reserved; then keys that may have more at once start more.
func (w *Worker[T]) startRows(ctx context.Context, now time.Time, rows []T, works []Work, c *stepResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var keys []string
	for i, row := range rows {
		key := w.handler.Key(row)
		queue := w.queueOf(key)
		queue.refillRequested = false
		queue.waiting = append(queue.waiting, queuedRow[T]{row: row, work: works[i], until: now.Add(w.table.Lease / 2)})
		if queue.running == 0 || w.table.Key == "" {
			go w.runAttempts(ctx, w.startNext(key, c), c)
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		for _, b := range w.dispatchQueue(key, c) {
			go w.runAttempts(ctx, b, c)
		}
	}
}

// dispatchQueue starts waiting rows of a queue while there are slots. The lock is held.
func (w *Worker[T]) dispatchQueue(key string, c *stepResult) (some []startedAttempt[T]) {
	queue := w.queueOf(key)
	for len(queue.waiting) > 0 {
		grouped := queue.group != "" && w.options.GroupShare > 0
		full := w.held >= w.options.Pool || grouped && w.groups[queue.group] >= w.options.GroupShare
		if queue.running > 0 && (full || queue.speed != fast || queue.running >= w.options.Share) {
			return some
		}
		some = append(some, w.startNext(key, c))
	}
	queue.waiting = nil
	return some
}

// startedAttempt is a row whose attempt counts as running.
type startedAttempt[T any] struct {
	queuedRow[T]
	*runningAttempt
}

// startNext removes the first row of a queue and counts its attempt as running. The lock is
// held.
func (w *Worker[T]) startNext(key string, c *stepResult) startedAttempt[T] {
	queue := w.queueOf(key)
	h := queue.waiting[0]
	queue.waiting = queue.waiting[1:]
	a := &runningAttempt{key: key, group: queue.group, began: w.options.Clock()}
	queue.running++
	w.under[a] = struct{}{}
	w.reserveSlots(a.group, 1)
	w.all.Add(1)
	if c != nil {
		c.n++
		c.wg.Add(1)
	}
	return startedAttempt[T]{h, a}
}

// reserveSlots counts slots that are taken. The lock is held.
func (w *Worker[T]) reserveSlots(group string, places int) {
	w.held += places
	if w.groups[group] += places; w.groups[group] == 0 {
		delete(w.groups, group)
	}
}

// releaseSlots frees the slots that a claim reserved. The attempts of its rows have their own.
func (w *Worker[T]) releaseSlots(chosen []dueRow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range chosen {
		w.reserveSlots(h.Group, -1)
	}
}

// runAttempts makes an attempt, then the attempts of the same queue that can start after it:
// one in this goroutine, whose stack has grown already, the others in their own.
func (w *Worker[T]) runAttempts(ctx context.Context, b startedAttempt[T], c *stepResult) {
	for {
		settled, err := w.makeAttempt(ctx, b.queuedRow)
		some := w.endAttempt(ctx, b.runningAttempt, c)
		go w.finishAttempt(b.key, settled, err, c)
		if len(some) == 0 {
			return
		}
		for _, other := range some[1:] {
			go w.runAttempts(ctx, other, c)
		}
		b = some[0]
	}
}

// finishAttempt waits until an attempt is settled. A panic costs the attempt, not the program.
func (w *Worker[T]) finishAttempt(key string, settled func() error, err error, c *stepResult) {
	if err == nil {
		err = settleGuarded(settled)
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

func (w *Worker[T]) makeAttempt(ctx context.Context, h queuedRow[T]) (settled func() error, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return h.work(ctx), nil
}

func settleGuarded(settled func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return settled()
}

// endAttempt removes an attempt, records the key's speed, and returns the attempts of its
// queue that start now.
func (w *Worker[T]) endAttempt(ctx context.Context, a *runningAttempt, c *stepResult) (some []startedAttempt[T]) {
	now := w.options.Clock()
	w.mu.Lock()
	queue := w.queueOf(a.key)
	delete(w.under, a)
	w.reserveSlots(a.group, -1)
	queue.running--
	queue.speed, queue.took = fast, now.Sub(a.began)
	if queue.took >= w.options.Slow {
		queue.speed = slow
	}
	late := queue.speed == slow || len(queue.waiting) > 0 && !now.Before(queue.waiting[0].until)
	if !late && ctx.Err() == nil {
		some = w.dispatchQueue(a.key, c)
	}
	low := len(queue.waiting) == 0 || !queue.refillRequested && len(queue.waiting) <= w.prefetchLimit(queue)/2
	queue.refillRequested = true
	w.mu.Unlock()
	if late || ctx.Err() != nil {
		w.returnQueued(ctx, &a.key)
	}
	if low {
		w.Signal() // there is room again
	}
	return some
}

// returnQueued returns the waiting rows of one queue, or of all, to the table.
func (w *Worker[T]) returnQueued(ctx context.Context, only *string) {
	w.mu.Lock()
	var rows []T
	for key, queue := range w.queues {
		if only != nil && *only != key {
			continue
		}
		for _, h := range queue.waiting {
			rows = append(rows, h.row)
		}
		queue.waiting = nil
	}
	w.mu.Unlock()
	if len(rows) == 0 || w.batcher == nil {
		return
	}
	if err := w.batcher.Return(context.WithoutCancel(ctx), rows); err != nil {
		w.options.Log.Error("what was not begun comes back when its lease ends", "table", w.table.Name, "error", err)
	}
}
