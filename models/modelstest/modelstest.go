// Package modelstest opens databases for tests: SQLite always, and PostgreSQL
// at COINTILL_TEST_DATABASE_URL, which `make test` sets. No two tests use a
// database, or a schema, at the same time.
package modelstest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cointill/internal/testing/speed"
	"cointill/models"
)

// variable names the PostgreSQL server that tests may use.
const variable = "COINTILL_TEST_DATABASE_URL"

// Each runs a test on a migrated database of each kind. Without a PostgreSQL
// server named, only SQLite runs, unless CI is set: then that is an error.
func Each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, Open(t, false, time.Now)) })
	if hasPostgres(t) {
		t.Run("postgres", func(t *testing.T) { test(t, Open(t, true, time.Now)) })
	}
}

// EachFull is Each for long tests of rules that are the same on each kind of database: PostgreSQL runs
// at the full size only. The test's package imports speed.
func EachFull(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	if speed.Pick(false, true) {
		Each(t, test)
		return
	}
	test(t, Open(t, false, time.Now))
}

// hasPostgres reports whether a PostgreSQL server is named. Where CI is set, one must be.
func hasPostgres(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) == "" && os.Getenv("CI") != "" {
		t.Fatalf("%s is not set: run the tests with make test", variable)
	}
	return os.Getenv(variable) != ""
}

// Open opens a migrated database without rows. Other tests use PostgreSQL's before and afterwards.
func Open(t testing.TB, postgres bool, now func() time.Time) *models.DB {
	t.Helper()
	if postgres {
		baseURL(t)
		return openReused(t, inMicroseconds(now))
	}
	return openDatabase(t, "", copyMigrated(t), now)
}

// copyMigrated returns a folder of the test's own that holds a migrated SQLite database.
func copyMigrated(t testing.TB) (dir string) {
	t.Helper()
	file, err := migrated()
	dir = t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cointill.db"), file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// migrated is the file of a SQLite database with every table and no row. Tests begin
// with a copy: that takes far less time than the migrations.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "cointill-migrated-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := models.Open("", dir, time.Now)
	if err != nil {
		return nil, err
	}
	// closing writes its log into the file
	if err := errors.Join(db.Migrate(context.Background()), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "cointill.db"))
})

// OpenEmpty opens a database of the test's own without any table.
func OpenEmpty(t testing.TB, postgres bool, now func() time.Time) *models.DB {
	t.Helper()
	address := ""
	if postgres {
		address = URL(t)
	}
	return openDatabase(t, address, t.TempDir(), now)
}

func openDatabase(t testing.TB, address, dir string, now func() time.Time) *models.DB {
	t.Helper()
	db, err := models.Open(address, dir, inMicroseconds(now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// inMicroseconds returns a clock in UTC whose times both databases keep whole.
func inMicroseconds(now func() time.Time) func() time.Time {
	return func() time.Time { return now().UTC().Truncate(time.Microsecond) }
}
