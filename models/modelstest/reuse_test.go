package modelstest

import (
	"errors"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/models"
)

// useDatabase opens a PostgreSQL database as a test does, uses it, and ends that test. It returns the
// database's name.
func useDatabase(t *testing.T, use func(t testing.TB, db *models.DB)) (name string) {
	t.Helper()
	runWithCleanup(t, func(t testing.TB) {
		db := Open(t, true, time.Now)
		if err := db.Exec(t.Context()).Raw("SELECT current_database()").Row().Scan(&name); err != nil {
			t.Fatal(err)
		}
		use(t, db)
	})
	return name
}

// TestDatabasesAreUsedAgain: the next test gets the same database without a row, and new rows have
// the numbers that they have in a new database.
func TestDatabasesAreUsedAgain(t *testing.T) {
	if !hasPostgres(t) {
		return
	}
	addRow := func(t testing.TB, db *models.DB) {
		row := models.JournalEntry{BusinessID: 7, Domain: "test", BookedOn: "2026-03-01", HappenedOn: "2026-03-01",
			Debit: "wallet", Credit: "unmatched", Coin: "BTC", Amount: money.Units(1)}
		if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
			t.Fatal(err)
		}
		var rows, versions int64
		err := errors.Join(db.Read(t.Context()).Model(&row).Count(&rows).Error,
			db.Read(t.Context()).Table("goose_db_version").Count(&versions).Error)
		if err != nil || row.ID != 1 || rows != 1 || versions == 0 {
			t.Errorf("the first row: number %d of %d, %d versions of the schema (%v), want number 1 of 1", row.ID, rows,
				versions, err)
		}
	}
	first := useDatabase(t, addRow)
	if second := useDatabase(t, addRow); second != first {
		t.Errorf("the second test used %s, want %s again", second, first)
	}
}

// TestChangedDatabasesAreDropped: no test gets a database that another test changed beyond its rows.
func TestChangedDatabasesAreDropped(t *testing.T) {
	if !hasPostgres(t) {
		return
	}
	for name, statement := range map[string]string{
		"a column":     "ALTER TABLE payments ADD COLUMN more text",
		"a trigger":    "ALTER TABLE journal_entries DISABLE TRIGGER journal_entries_guard",
		"an index":     "DROP INDEX transfers_tx",
		"statistics":   "ANALYZE users",
		"a lock":       "SELECT pg_advisory_lock(1)",
		"much content": "INSERT INTO instances SELECT n, repeat('v', 500) FROM generate_series(1, 10000) AS n",
		"a type":       "CREATE TYPE colour AS ENUM ('red')",
	} {
		t.Run(name, func(t *testing.T) {
			first := useDatabase(t, func(t testing.TB, db *models.DB) {
				if name == "statistics" {
					if err := db.Exec(t.Context()).Create(&models.User{Email: "a@example.com"}).Error; err != nil {
						t.Fatal(err)
					}
				}
				if err := db.Exec(t.Context()).Exec(statement).Error; err != nil {
					t.Fatal(err)
				}
			})
			second := useDatabase(t, func(testing.TB, *models.DB) {})
			if second == first {
				t.Errorf("after %q the next test used the same database, want another", statement)
			}
			var kept bool
			if err := server().QueryRow("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", first).
				Scan(&kept); err != nil || kept {
				t.Errorf("the changed database is still there: %v (%v), want it dropped", kept, err)
			}
		})
	}
}

// TestUsedConnectionsAreNotTaken: a database in which a test left a transaction isn't used again.
func TestUsedConnectionsAreNotTaken(t *testing.T) {
	if !hasPostgres(t) {
		return
	}
	var end func() error
	first := useDatabase(t, func(t testing.TB, db *models.DB) {
		tx := db.Exec(t.Context()).Begin()
		if tx.Error != nil {
			t.Fatalf("begin a transaction: %v", tx.Error)
		}
		end = func() error { return tx.Rollback().Error }
	})
	if second := useDatabase(t, func(testing.TB, *models.DB) {}); second == first {
		t.Error("the next test used the database of an open transaction, want another")
	}
	_ = end() // its connection is closed
}

// TestStatementsAfterTheTestFail: goroutines that a test left don't write into the next one's database.
func TestStatementsAfterTheTestFail(t *testing.T) {
	if !hasPostgres(t) {
		return
	}
	var left *models.DB
	useDatabase(t, func(_ testing.TB, db *models.DB) { left = db })
	var n int
	for name, err := range map[string]error{
		"an insertion": left.Exec(t.Context()).Create(&models.Instance{Name: "a", Value: "b"}).Error,
		"a change":     left.Exec(t.Context()).Exec("UPDATE users SET name = ''").Error,
		"a query":      left.List(t.Context()).Find(&[]models.User{}).Error,
		"a row":        left.Read(t.Context()).Raw("SELECT 1").Row().Scan(&n),
	} {
		if err == nil {
			t.Errorf("%s after the test: no error, want one", name)
		}
	}
}
