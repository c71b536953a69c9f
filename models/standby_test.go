package models

import (
	"testing"
	"time"
)

// TestStandbyAge: what a standby shows is as old as the stamp that has come to it, and
// is read while it is younger than MostBehind, on the history of the server that the
// newest connection leads to; by the primary's clock, also when that is set back.
func TestStandbyAge(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second / time.Microsecond)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		shows stamp
		after time.Duration // since the look began
		want  string
	}{
		"just written":            {stamp{1, 60 * second}, 9 * time.Second, ""},
		"not looked at for long":  {stamp{1, 60 * second}, 10 * time.Second, tooOld},
		"late":                    {stamp{1, 51 * second}, 0, ""},
		"late, a second after":    {stamp{1, 51 * second}, time.Second, tooOld},
		"too late":                {stamp{1, 49 * second}, 0, tooOld},
		"written by another":      {stamp{1, 61 * second}, 9 * time.Second, ""},
		"and a moment after":      {stamp{1, 61 * second}, 10 * time.Second, tooOld},
		"before a clock's change": {stamp{1, 71 * second}, 0, tooOld},
		"of another server":       {stamp{2, 60 * second}, 0, notCaughtUp},
		"of none":                 {stamp{}, 0, notCaughtUp},
	} {
		h := &health{now: func() time.Time { return start.Add(c.after) }}
		h.server.Store(1)
		s := &standby{health: h}
		found := compareStamps(start, stamp{1, 60 * second}, c.shows)
		s.found.Store(&found)
		if got := s.problemNow(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		h.server.Store(3)
		if s.problemNow() == "" {
			t.Errorf("%s: it is read after another server was met", name)
		}
	}
}
