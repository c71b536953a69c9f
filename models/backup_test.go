package models

import "testing"

// TestSamePlace: a cluster whose number isn't known, now or then, is no other one.
func TestSamePlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		noted, here string
		want        bool
	}{
		{"71/5/9", "71/5/9", true},
		{"71/5/9", "-/5/9", true},
		{"-/5/9", "71/5/9", true},
		{"71/5/9", "72/5/9", false},
		{"-/5/9", "-/6/9", false},
		{"71/5/9", "-/5/10", false},
		{nowhere, "71/5/9", false},
		{nowhere, "-/5/9", false},
	} {
		if got := sameDatabase(c.noted, c.here); got != c.want {
			t.Errorf("noted %q, here %q: %v", c.noted, c.here, got)
		}
	}
}
