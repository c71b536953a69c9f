package demo

import (
	"slices"
	"testing"
	"time"
)

// TestEventsHappenInTheOrderOfTime: events of one moment happen in the order in which they were added, and none after
// the end.
func TestEventsHappenInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	var line timeline
	var happened []string
	add := func(name string, after time.Duration) {
		line.add(begin.Add(after), func() error { happened = append(happened, name); return nil })
	}
	add("c", 2*time.Hour)
	add("a", time.Hour)
	add("d", 2*time.Hour)
	add("b", time.Hour)
	add("too late", 3*time.Hour+1)
	for e, ok := line.next(begin.Add(3 * time.Hour)); ok; e, ok = line.next(begin.Add(3 * time.Hour)) {
		if err := e.happen(); err != nil {
			t.Fatal(err)
		}
		if happened[len(happened)-1] == "a" {
			add("e", 3*time.Hour) // added while the timeline runs
			add("b2", time.Hour)
		}
	}
	if want := []string{"a", "b", "b2", "c", "d", "e"}; !slices.Equal(happened, want) {
		t.Errorf("events happened in the order %v, want %v", happened, want)
	}
}
