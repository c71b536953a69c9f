package demo

import (
	"cmp"
	"container/heap"
	"time"
)

// timeline holds future events in the order of time. It implements heap.Interface.
type timeline struct {
	events []event
	added  int
}

// event is one thing that happens at a time. number orders events of the same moment.
type event struct {
	at     time.Time
	number int
	happen func() error
}

// add has something happen at a time.
func (t *timeline) add(at time.Time, happen func() error) {
	t.added++
	heap.Push(t, event{at, t.added, happen})
}

// next takes the earliest event up to a time.
func (t *timeline) next(until time.Time) (event, bool) {
	if len(t.events) == 0 || t.events[0].at.After(until) {
		return event{}, false
	}
	return heap.Pop(t).(event), true
}

// Len implements heap.Interface.
func (t *timeline) Len() int { return len(t.events) }

// Less implements heap.Interface.
func (t *timeline) Less(i, j int) bool {
	a, b := t.events[i], t.events[j]
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) < 0
}

// Swap implements heap.Interface.
func (t *timeline) Swap(i, j int) { t.events[i], t.events[j] = t.events[j], t.events[i] }

// Push implements heap.Interface.
func (t *timeline) Push(one any) { t.events = append(t.events, one.(event)) }

// Pop implements heap.Interface.
func (t *timeline) Pop() any {
	last := len(t.events) - 1
	one := t.events[last]
	t.events = t.events[:last]
	return one
}
