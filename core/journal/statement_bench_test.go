package journal_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// maxStatementTime is the most that a statement of a month with 100,000 payments may take.
const maxStatementTime = 300 * time.Millisecond

// unsummedEntries is how many entries of BenchmarkStatement aren't in the sums of days yet.
const unsummedEntries = 1000

// BenchmarkStatement measures the statement of the last month of three years in which every coin
// was paid in every currency on every day. It reads the sums of days and months, and entries that aren't in
// them yet, so the number of payments changes nothing. It prints the time as a ratio to maxStatementTime.
func BenchmarkStatement(b *testing.B) {
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			if postgres && os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
				b.Fatal("COINTILL_TEST_DATABASE_URL is not set: run it with scripts/with-postgres")
			}
			db := modelstest.Open(b, postgres, clock.Real())
			var days []models.JournalDaySum
			for on := range 3 * 365 {
				for _, coin := range money.Coins() {
					for _, currency := range money.Currencies() {
						days = append(days, daysOf(noon.AddDate(0, 0, -on), string(coin.Coin), string(currency))...)
					}
				}
			}
			entries := make([]models.JournalEntry, unsummedEntries)
			for i := range entries {
				entries[i] = models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: noon.Format(time.DateOnly),
					HappenedOn: noon.Format(time.DateOnly), Kind: journal.Settled, Debit: "pending", Credit: "sales", Coin: "BTC",
					Network: "n", Currency: "NGN", Amount: money.Units(1), CreatedAt: noon}
			}
			tx := db.Exec(b.Context())
			if err := errors.Join(tx.Create(days).Error, tx.Create(monthsOf(days)).Error, tx.Create(entries).Error); err != nil {
				b.Fatal(err)
			}
			books := &journal.Service{DB: db, Clock: clock.Real()}
			for b.Loop() {
				s, err := books.ReadStatement(b.Context(), finance, journal.Period{From: "2026-03-01", To: "2026-03-31"})
				if err != nil || len(s.Coins) != len(money.Coins()) {
					b.Fatalf("the statement has %d coins: %v", len(s.Coins), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(maxStatementTime), "of-limit")
			b.Logf("%d sums of days", len(days))
		})
	}
}

// daysOf returns the sums of a day on which a coin was paid in a currency, by each kind of entry
// that an ordinary day has.
func daysOf(day time.Time, coin, currency string) (list []models.JournalDaySum) {
	for _, way := range [][3]string{{journal.Received, "wallet", "pending"}, {journal.Settled, "pending", "sales"},
		{journal.Settled, "pending", "declined"}, {journal.Settled, "pending", "unmatched"},
		{journal.Refunded, "declined", "wallet"}} {
		list = append(list, models.JournalDaySum{BusinessID: 1, Domain: "test", BookedOn: day.Format(time.DateOnly), Kind: way[0],
			Debit: way[1], Credit: way[2], Coin: coin, Network: "n", Currency: currency, Entries: 100, Payments: 100,
			Amount: money.Units(1_000_000), Value: 5_000, Due: 5_000})
	}
	return list
}

// monthsOf returns the sums of the months of days.
func monthsOf(days []models.JournalDaySum) (list []models.JournalMonthSum) {
	at := map[string]int{}
	for _, d := range days {
		month := models.JournalMonthSum{BusinessID: d.BusinessID, Domain: d.Domain, Month: d.BookedOn[:len("2006-01")],
			Debit: d.Debit, Credit: d.Credit, Coin: d.Coin, Network: d.Network}
		key := month.Month + month.Debit + month.Credit + month.Coin
		i, found := at[key]
		if !found {
			i = len(list)
			at[key], list = i, append(list, month)
		}
		list[i].Amount = list[i].Amount.Add(d.Amount)
	}
	return list
}
