package modelstest

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"cointill/models"
)

// failureTB collects what a helper reports, in place of failing the test.
type failureTB struct {
	testing.TB
	errors []string
}

// Errorf implements testing.TB.
func (f *failureTB) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

// TestFailStatements: a call that passes on each statement's error is right; one that
// keeps an error to itself, replaces it or doesn't log what it tolerates is reported.
func TestFailStatements(t *testing.T) {
	Each(t, func(t *testing.T, db *models.DB) {
		count := func() error { var n int64; return db.Read(t.Context()).Model(&models.User{}).Count(&n).Error }
		change := func() error { return db.Exec(t.Context()).Exec("UPDATE users SET name = ''").Error }
		for name, c := range map[string]struct {
			call      func() error
			tolerated []string
			want      string
		}{
			"passed on":              {func() error { return errors.Join(count(), change()) }, nil, ""},
			"kept":                   {func() error { _ = change(); return count() }, nil, "statement 1 (raw UPDATE users SET) fails, the call returns <nil>"},
			"replaced":               {func() error { return cover(count()) }, nil, "the call returns not found"},
			"fails without a reason": {func() error { return errors.New("no") }, nil, "no statement fails returned no"},
			"tolerated, not logged":  {func() error { _ = change(); return nil }, []string{"raw UPDATE users SET"}, "nothing is logged"},
			"tolerated and logged":   {func() error { warn(change()); return nil }, []string{"raw UPDATE users SET"}, ""},
			"logged without need":    {func() error { slog.Warn("not changed", "error", change()); return nil }, []string{"raw UPDATE users SET"}, "1 warnings have no error"},
		} {
			seen := &failureTB{TB: t}
			FailStatements(seen, db, c.call, c.tolerated...)
			got := strings.Join(seen.errors, "; ")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("a call whose error is %s: reported %q, want %q", name, got, c.want)
			}
		}
	})
}

// cover returns another error in place of one.
func cover(err error) error {
	if err != nil {
		return errors.New("not found")
	}
	return nil
}

// warn logs an error.
func warn(err error) {
	if err != nil {
		slog.Warn("not changed", "error", err)
	}
}
