package journal_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// sumEntries has the entries summed, and checks how many there are.
func sumEntries(t *testing.T, books *journal.Service, want int) {
	t.Helper()
	if n, err := books.SumEntries(t.Context()); n != want || err != nil {
		t.Errorf("%d entries are summed (%v), want %d", n, err, want)
	}
}

// TestFiguresDoNotWaitForSums checks that statements, sales, sums of days and months are the same before
// their entries are in the sums of days and months, and after.
func TestFiguresDoNotWaitForSums(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books, _ := fillBooks(t, db)
		read := func() string {
			t.Helper()
			month, err := books.ReadStatement(t.Context(), finance, journal.Period{From: "2026-03-01", To: "2026-03-31"})
			later, err2 := books.ReadStatement(t.Context(), finance, journal.Period{From: "2026-03-31", To: "2026-04-01"})
			sales, err3 := books.ListSales(t.Context(), finance, all)
			sums, err4 := journal.SumDays(db.Read(t.Context()), finance, all)
			months, err5 := books.ListMonths(t.Context(), finance)
			if err := errors.Join(err, err2, err3, err4, err5); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%+v\n%+v\n%+v\n%+v\n%+v", month, later, sales, sums, months)
		}
		before := read()
		sumEntries(t, books, 3)
		if after := read(); after != before {
			t.Errorf("the figures after the sums are\n%s\nwant those before them:\n%s", after, before)
		}
		sumEntries(t, books, 0)
		postEntries(t, db, "more", noon, journal.Pending)
		mixed := read()
		sumEntries(t, books, 1)
		if after := read(); after != mixed || after == before {
			t.Errorf("the figures after more sums are\n%s\nwant those before them:\n%s", after, mixed)
		}
	})
}

// TestSumsOfConcurrentPostings checks that entries that are posted while others are summed are each summed once.
func TestSumsOfConcurrentPostings(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		const posters, each = 4, 10
		var work sync.WaitGroup
		for p := range posters {
			work.Go(func() {
				for i := range each {
					row := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
						Kind: journal.Received, Debit: "wallet", Credit: "unmatched", Coin: "BTC", Network: "n",
						Amount: money.Units(int64(1 + p*each + i)), CreatedAt: noon}
					if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
						t.Error(err)
					}
				}
			})
			work.Go(func() {
				for range each {
					if _, err := books.SumEntries(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		if _, err := books.SumEntries(t.Context()); err != nil {
			t.Fatal(err)
		}
		const n = posters * each
		var day models.JournalDaySum
		var month models.JournalMonthSum
		if err := errors.Join(db.Read(t.Context()).Take(&day).Error, db.Read(t.Context()).Take(&month).Error); err != nil {
			t.Fatal(err)
		}
		want := money.Units(n * (n + 1) / 2)
		if day.Entries != n || day.Amount.Cmp(want) != 0 || month.Month != "2026-03" || month.Amount.Cmp(want) != 0 {
			t.Errorf("the sums are %+v and %+v, want %d entries with %s in both", day, month, n, want)
		}
	})
}

// TestPostingsOfTheReleaseBefore checks that an entry is summed once when a process of the release before posts it
// during an upgrade: that one adds it to journal_days itself.
func TestPostingsOfTheReleaseBefore(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		row := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
			Kind: journal.Received, Debit: "wallet", Credit: "unmatched", Coin: "BTC", Network: "n",
			Amount: money.Units(5), CreatedAt: noon}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return errors.Join(tx.Create(&row).Error, tx.Exec("INSERT INTO journal_days (business_id, domain, booked_on, "+
				"kind, debit, credit, coin, network, currency, entries, payments, amount, value, due) "+
				"VALUES (1, 'test', '2026-03-31', ?, 'wallet', 'unmatched', 'BTC', 'n', '', 1, 0, ?, 0, 0)",
				row.Kind, row.Amount).Error)
		})
		if err != nil {
			t.Fatal(err)
		}
		sumEntries(t, reader(t, db, noon), 1)
		var day models.JournalDaySum
		if err := db.Read(t.Context()).Take(&day).Error; err != nil {
			t.Fatal(err)
		}
		if day.Entries != 1 || day.Amount.Cmp(row.Amount) != 0 {
			t.Errorf("the day's sum is %+v, want one entry with %s", day, row.Amount)
		}
	})
}
