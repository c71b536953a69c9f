package demo

import (
	"slices"
	"time"
)

// timeline holds future events in the order of time, events of one moment in the order in which they were added.
type timeline struct{ events []event }

// event is one thing that happens at a time.
type event struct {
	at     time.Time
	happen func() error
}

// add has something happen at a time.
func (t *timeline) add(at time.Time, happen func() error) {
	place, _ := slices.BinarySearchFunc(t.events, at, func(e event, at time.Time) int {
		if e.at.After(at) {
			return 1
		}
		return -1
	})
	t.events = slices.Insert(t.events, place, event{at, happen})
}

// next takes the earliest event up to a time.
func (t *timeline) next(until time.Time) (event, bool) {
	if len(t.events) == 0 || t.events[0].at.After(until) {
		return event{}, false
	}
	first := t.events[0]
	t.events = t.events[1:]
	return first, true
}
