package models_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestUnsummedEntriesStayUnsummed checks that SQLite's migration keeps which entries aren't in the sums of
// days and months, and that later entries aren't in them.
func TestUnsummedEntriesStayUnsummed(t *testing.T) {
	text, err := os.ReadFile("migrations/sqlite/0066_note_entries_at_once.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, up, _ := strings.Cut(string(text), "-- +goose Up")
	for name, c := range map[string]struct {
		entries int64
		summed  string // the condition of summed entries
		want    string
	}{
		"no entry":      {0, "true", "[1]"},
		"none summed":   {3, "false", "[1 2 3 4]"},
		"the first two": {3, "entry_id < 3", "[3 4]"},
		"all":           {3, "true", "[4]"},
	} {
		t.Run(name, func(t *testing.T) {
			db := modelstest.Open(t, false, clock.NewFake(time.Unix(1, 0)).Now)
			run := func(statement string) {
				t.Helper()
				if err := db.Exec(t.Context()).Exec(statement).Error; err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			insert := func(n int64) {
				t.Helper()
				entry := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
					Kind: "received", Debit: "wallet", Credit: "unmatched", Coin: "BTC", Network: "n", Amount: money.Units(n)}
				if err := db.Exec(t.Context()).Create(&entry).Error; err != nil {
					t.Fatal(err)
				}
			}
			run("DROP VIEW unsummed_entries")
			run("DROP TABLE summed_entries")
			run("CREATE TABLE unsummed_entries (entry_id integer PRIMARY KEY)")
			run("CREATE TRIGGER journal_entries_unsummed AFTER INSERT ON journal_entries BEGIN " +
				"INSERT INTO unsummed_entries VALUES (NEW.id); END")
			for n := range c.entries {
				insert(n + 1)
			}
			run("DELETE FROM unsummed_entries WHERE " + c.summed)
			run(up)
			insert(c.entries + 1)
			var got []int64
			if err := db.Exec(t.Context()).Model(&models.UnsummedEntry{}).Order("entry_id").Pluck("entry_id", &got).Error; err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("unsummed are %v, want %s", got, c.want)
			}
		})
	}
}
