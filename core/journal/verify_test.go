package journal_test

import (
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestVerifyBooks checks that books hold while entries are booked, summed and closed, and that changes by SQL
// of what a closing sealed, and of sums, are named.
func TestVerifyBooks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		check := func(when string, entries int64, months int, broken string) {
			t.Helper()
			v, err := books.VerifyBooks(t.Context(), finance)
			if err != nil || v.Broken != broken || broken == "" && (v.Entries != entries || v.Months != months) {
				t.Errorf("%s: %+v (%v), want %d entries, %d months and %q", when, v, err, entries, months, broken)
			}
		}
		sum := func() {
			t.Helper()
			if _, err := books.SumEntries(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		check("empty books", 0, 0, "")
		postEntries(t, db, "january", noon.AddDate(0, -2, 0), journal.Pending, journal.Sales)
		check("entries that aren't summed", 2, 0, "")
		sum()
		postEntries(t, db, "march", noon.AddDate(0, 0, -4), journal.Pending, journal.Sales, journal.Reversed)
		check("some are summed", 5, 0, "")
		closeAt := func(month string, at time.Time) {
			t.Helper()
			books.Clock = clock.NewFake(at).Now
			if _, err := books.CloseMonth(t.Context(), finance, month); err != nil {
				t.Fatal(err)
			}
		}
		closeAt("2026-03", noon.AddDate(0, 0, 1)) // and all months before it
		check("a month is closed before its entries are summed", 5, 1, "")
		sum()
		postEntries(t, db, "late", noon.AddDate(0, 0, -1), journal.Pending, journal.Sales)
		closeAt("2026-04", noon.AddDate(0, 0, 31))
		check("late facts, and a second month", 7, 2, "")
		sum()
		check("all is summed", 7, 2, "")

		const changed = "Entries of 2026-03, or of a month that was closed with it, changed after it was closed."
		for _, c := range []struct{ change, undo, want string }{
			{"UPDATE transfers SET tx_id = 'x' WHERE tx_id = 'january'",
				"UPDATE transfers SET tx_id = 'january' WHERE tx_id = 'x'", changed},
			{"UPDATE journal_day_sums SET value = value + 1 WHERE booked_on = '2026-03-28'",
				"UPDATE journal_day_sums SET value = value - 1 WHERE booked_on = '2026-03-28'",
				"The sums of 2026-03-28 aren't those of its entries."},
			{"UPDATE journal_day_sums SET payments = payments + 1 WHERE booked_on = '2026-04-01'",
				"UPDATE journal_day_sums SET payments = payments - 1 WHERE booked_on = '2026-04-01'",
				"The sums of 2026-04-01 aren't those of its entries."},
			{"UPDATE journal_month_sums SET coin = 'ETH' WHERE month = '2026-01'",
				"UPDATE journal_month_sums SET coin = 'BTC' WHERE month = '2026-01'",
				"The sums of 2026-01 aren't those of its days."},
			{`INSERT INTO audits (business_id, domain, actor, action, subject, detail, created_at) SELECT business_id,
				domain, actor, action, '2026-06', detail, created_at FROM audits WHERE subject = '2026-03'`,
				"DELETE FROM audits WHERE subject = '2026-06'", "2026-06 was closed, as the audit log says, and is open."},
			{"UPDATE audits SET detail = '{}' WHERE subject = '2026-04'", "",
				"2026-04 is not closed with the hash that the audit log has."},
			{"UPDATE audits SET subject = '2026-05' WHERE subject = '2026-04'", "",
				"2026-04 is not closed with the hash that the audit log has."},
		} {
			if err := db.Exec(t.Context()).Exec(c.change).Error; err != nil {
				t.Fatal(err)
			}
			check(c.change, 0, 0, c.want)
			if c.undo != "" {
				if err := db.Exec(t.Context()).Exec(c.undo).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
