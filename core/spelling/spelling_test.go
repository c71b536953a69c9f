package spelling_test

import (
	"testing"

	"cointill/core/spelling"
)

// TestNearest: an insertion, a deletion and a replacement are one change each.
func TestNearest(t *testing.T) {
	names := []string{"metadata", "first_name", "email"}
	for name, want := range map[string]struct {
		best    string
		changes int
	}{"metdata": {"metadata", 1}, "metaadata": {"metadata", 1}, "first-name": {"first_name", 1}, "email": {"email", 0},
		"mail": {"email", 1}, "frist_name": {"first_name", 2}} {
		if best, changes := spelling.Nearest(name, names); best != want.best || changes != want.changes {
			t.Errorf("Nearest(%q) = %q, %d, want %q, %d", name, best, changes, want.best, want.changes)
		}
	}
	if best, changes := spelling.Nearest("email", nil); best != "" || changes != 0 {
		t.Errorf("Nearest without names = %q, %d, want none", best, changes)
	}
}
