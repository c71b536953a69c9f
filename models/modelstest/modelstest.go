// Package modelstest opens databases for tests: SQLite always, and PostgreSQL
// at COINTILL_TEST_DATABASE_URL, which `make test` sets. Each test has a
// database, or a schema, of its own.
package modelstest

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx" for creating schemas

	"cointill/core/ident"
	"cointill/models"
)

// variable names the PostgreSQL server that tests may use.
const variable = "COINTILL_TEST_DATABASE_URL"

// Each runs a test on a migrated database of each kind. Without a PostgreSQL
// server named, only SQLite runs, unless CI is set: then that is an error.
func Each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, Open(t, false, time.Now)) })
	if os.Getenv(variable) == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not set: run the tests with make test", variable)
		}
		return
	}
	t.Run("postgres", func(t *testing.T) { test(t, Open(t, true, time.Now)) })
}

// Open opens a migrated database of the test's own.
func Open(t testing.TB, postgres bool, now func() time.Time) *models.DB {
	t.Helper()
	db := OpenEmpty(t, postgres, now)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// OpenEmpty opens a database of the test's own without any table.
func OpenEmpty(t testing.TB, postgres bool, now func() time.Time) *models.DB {
	t.Helper()
	address := ""
	if postgres {
		address = URL(t)
	}
	utc := func() time.Time { return now().UTC().Truncate(time.Microsecond) }
	db, err := models.Open(address, t.TempDir(), utc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// URL is the address of a PostgreSQL schema of the test's own.
func URL(t testing.TB) string {
	t.Helper()
	base := os.Getenv(variable)
	if base == "" {
		t.Fatalf("%s is not set: run the tests with make test", variable)
	}
	admin, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	schema := "test_" + fmt.Sprintf("%x", ident.Bytes(8))
	if _, err := admin.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.Exec("DROP SCHEMA " + schema + " CASCADE")
		_ = admin.Close()
	})
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	return address.String()
}
