package outbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"cointill/core/clock"
)

// idle is a handler that is never called: its worker's queues are looked at from inside.
type idle struct{}

func (idle) Key(string) string                              { return "" }
func (idle) Work(context.Context, string) error             { return errors.ErrUnsupported }
func (idle) Load(context.Context, []string) ([]Work, error) { return nil, errors.ErrUnsupported }
func (idle) Return(context.Context, []string) error         { return errors.ErrUnsupported }

// newTestWorker is a worker without a database, and its clock.
func newTestWorker(o Options) (*Worker[string], *clock.Fake) {
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	o.Clock = now.Now
	return NewWorker(nil, Table{Name: "rows", Key: "key", Lease: time.Minute}, idle{}, o), now
}

// fillQueue gives a key that is quick a queue with one attempt under way and others waiting.
func (w *Worker[T]) fillQueue(key, group string, waiting int) {
	w.queues[key] = &keyQueue[T]{group: group, speed: fast, waiting: make([]queuedRow[T], waiting)}
	w.queues[key].waiting = append(w.queues[key].waiting, queuedRow[T]{})
	w.startNext(key, nil)
}

// TestDispatchKeepsTheBounds: what waits in a queue begins as far as its key, its group
// and the pool have places, and one may always be under way.
func TestDispatchKeepsTheBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		share, pool, group int // of the options
		elsewhere          int // attempts of other keys, of the same group
		want               int
	}{
		"key":                 {share: 4, pool: 100, group: 100, elsewhere: 2, want: 3},
		"pool":                {share: 8, pool: 5, group: 100, elsewhere: 2, want: 2},
		"full pool":           {share: 8, pool: 3, group: 100, elsewhere: 2, want: 0},
		"group":               {share: 8, pool: 100, group: 4, elsewhere: 2, want: 1},
		"full group":          {share: 8, pool: 100, group: 3, elsewhere: 2, want: 0},
		"group without bound": {share: 8, pool: 100, group: 0, elsewhere: 2, want: 7},
	} {
		w, _ := newTestWorker(Options{Share: c.share, Pool: c.pool, GroupShare: c.group})
		w.fillQueue("a", "shop.example", 20)
		for range c.elsewhere {
			w.reserveSlots("shop.example", 1)
		}
		if got := len(w.dispatchQueue("a", nil)); got != c.want {
			t.Errorf("%s: %d began, want %d", name, got, c.want)
		}
	}
	w, _ := newTestWorker(Options{Share: 8, Pool: 1})
	w.reserveSlots("", 1)
	w.queues["b"] = &keyQueue[string]{speed: fast, waiting: make([]queuedRow[string], 3)}
	if got := len(w.dispatchQueue("b", nil)); got != 1 {
		t.Errorf("%d of a queue that has none under way began, want 1", got)
	}
}

// TestPrefetchIsBounded: the rows that wait here are bounded in all, however quick their keys are.
func TestPrefetchIsBounded(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[int]int{1000: 96, 1024: 0} {
		w, now := newTestWorker(Options{Share: 2})
		for _, key := range []string{"a", "b", "c", "d"} {
			w.fillQueue(key, "", waiting)
		}
		w.queues["e"] = &keyQueue[string]{speed: fast}
		chosen, room, _ := w.chooseHeads([]dueRow{{ID: 1, Key: "e"}}, now.Now())
		if len(chosen) != 1 || room["e"] != want {
			t.Errorf("with 4 × %d waiting: %v chosen, room for %v behind, want %d", waiting, chosen, room, want)
		}
	}
}

// TestSlowWhileUnderWay: a key counts as slow as soon as one of its attempts has
// taken long, and gets no other before that is over.
func TestSlowWhileUnderWay(t *testing.T) {
	t.Parallel()
	w, now := newTestWorker(Options{Share: 2, Slow: 2 * time.Second})
	w.fillQueue("a", "", 0)
	heads := []dueRow{{ID: 1, Key: "a"}}
	now.Advance(2*time.Second - time.Microsecond)
	chosen, _, _ := w.chooseHeads(heads, now.Now())
	if len(chosen) != 1 {
		t.Errorf("%v chosen while it counts as quick", chosen)
	}
	w.releaseSlots(chosen)
	now.Advance(time.Microsecond)
	if chosen, room, _ := w.chooseHeads(heads, now.Now()); len(chosen) != 0 || len(room) != 0 {
		t.Errorf("%v chosen, room for %v, while it hangs", chosen, room)
	}
}
