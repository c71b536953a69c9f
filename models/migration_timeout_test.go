package models_test

import (
	"database/sql"
	"net/url"
	"strconv"
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestMigrationsOutlastStatementTimeout: what a database or its address allow a statement ends
// no migration, and counts again afterwards.
func TestMigrationsOutlastStatementTimeout(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // SQLite has no such limit
		}
		for _, within := range []string{"the database", "the address"} {
			address := slowToMigrate(t)
			if within == "the database" {
				alter(t, address, "ALTER DATABASE "+address.Path[1:]+" SET statement_timeout = '1s'")
			} else {
				query := address.Query()
				query.Set("statement_timeout", "1000")
				address.RawQuery = query.Encode()
			}
			db, err := models.Open(address.String(), "", time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Migrate(t.Context()); err != nil {
				t.Errorf("a statement of 1.5 s in a migration ends with a limit of 1 s of %s: %v", within, err)
			}
			var limit string
			if err := db.Exec(t.Context()).Raw("SHOW statement_timeout").Scan(&limit).Error; err != nil || limit != "1s" {
				t.Errorf("after the migrations the limit of %s is %q, %v, want 1s", within, limit, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestMigrationsWithATinyTimeout: a limit of a millisecond, which ends almost any statement, ends no migration
// of an empty database, and no look for migrations that are missing. A busy machine gets a longer limit.
func TestMigrationsWithATinyTimeout(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // SQLite has no such limit
		}
		address, err := url.Parse(modelstest.MigratedURL(t))
		if err != nil {
			t.Fatal(err)
		}
		alter(t, address, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
		var limited *models.DB
		limit := 1
		for range 12 { // the limit counts for the statements of Open, too
			query := address.Query()
			query.Set("statement_timeout", strconv.Itoa(limit))
			address.RawQuery = query.Encode()
			if limited, err = models.Open(address.String(), "", time.Now); err == nil {
				break
			}
			limit *= 2
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := limited.Migrate(t.Context()); err != nil {
			t.Errorf("migrations with a limit of %d ms: %v", limit, err)
		}
		if pending, err := limited.Pending(t.Context()); pending || err != nil {
			t.Errorf("after them migrations are missing: %v, %v", pending, err)
		}
		if err := limited.Close(); err != nil {
			t.Error(err)
		}
	})
}

// slowToMigrate returns the address of a database without tables, in which the first statement
// of a migration that makes one takes 1.5 s. The one before makes goose's own table, and
// is tried again when it fails.
func slowToMigrate(t *testing.T) *url.URL {
	t.Helper()
	address, err := url.Parse(modelstest.MigratedURL(t))
	if err != nil {
		t.Fatal(err)
	}
	alter(t, address, `DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA slow; CREATE SEQUENCE slow.calls;
		CREATE FUNCTION slow.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('slow.calls') = 2 THEN PERFORM pg_sleep(1.5); END IF;
		END $$;
		CREATE EVENT TRIGGER wait ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slow.wait()`)
	return address
}

// alter runs statements on a database.
func alter(t *testing.T, address *url.URL, statements string) {
	t.Helper()
	db, err := sql.Open("pgx", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}
