package journal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// describeLines writes lines as day, kind, sign and share of a value.
func describeLines(lines []journal.BankLine, value int64) (texts []string) {
	for _, l := range lines {
		texts = append(texts, fmt.Sprintf("%s %s %+d", l.BookedOn, l.Kind, l.Value/value))
	}
	return texts
}

// TestBankLinesAreTheWallet checks that the lines of a bank statement are the movements of the
// wallet in one currency, in the order of days, and their sum its change in value.
func TestBankLinesAreTheWallet(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		march := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
		postEntries(t, db, "later", march.AddDate(0, 0, 3), journal.Pending)
		postEntries(t, db, "sold", march, journal.Pending, journal.Sales)
		postEntries(t, db, "left", march, journal.Pending, journal.Sales, journal.Reversed)
		postEntries(t, db, "lost", march, journal.Pending, journal.Nowhere)
		value := statementOf(t, books, "2026-03-31..2026-03-31").Currencies[0].Sold / 2
		period := journal.Period{From: "2026-03-30", To: "2026-04-01"}
		lines, err := books.ListBankLines(t.Context(), finance, period, "NGN", 1)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"2026-03-30 received +1", "2026-03-30 received +1", "2026-03-30 received +1", "2026-03-31 lost -1", "2026-04-01 left -1"}
		if got := describeLines(lines, value); !slices.Equal(got, want) {
			t.Errorf("the lines are %q, want %q", got, want)
		}
		if n := statementOf(t, books, "2026-03-30..2026-04-01").Currencies[0].Movements; n != int64(len(want)) {
			t.Errorf("the statement has %d movements, want %d", n, len(want))
		}
		for name, other := range map[string]func() ([]journal.BankLine, error){
			"the second file":  func() ([]journal.BankLine, error) { return books.ListBankLines(t.Context(), finance, period, "NGN", 2) },
			"another currency": func() ([]journal.BankLine, error) { return books.ListBankLines(t.Context(), finance, period, "KES", 1) },
			"the live domain":  func() ([]journal.BankLine, error) { return listAs(t, books, 1, scope.Live, period) },
			"another business": func() ([]journal.BankLine, error) { return listAs(t, books, 2, scope.Test, period) },
			"days without any": func() ([]journal.BankLine, error) {
				return books.ListBankLines(t.Context(), finance, journal.Period{From: "2026-01-01", To: "2026-03-29"}, "NGN", 1)
			},
		} {
			if lines, err := other(); len(lines) != 0 || err != nil {
				t.Errorf("%s has %d lines (%v), want none", name, len(lines), err)
			}
		}
		developer := finance
		developer.Role, developer.Domain = scope.Developer, scope.Live
		if _, err := books.ListBankLines(t.Context(), developer, period, "NGN", 1); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a developer gets %v, want forbidden", err)
		}
		if _, err := books.ListBankLines(t.Context(), finance, journal.Period{From: "x", To: "y"}, "NGN", 1); fault.KindOf(err) != fault.Invalid {
			t.Errorf("days that can't be read give %v, want invalid", err)
		}
	})
}

func listAs(t *testing.T, books *journal.Service, business int64, domain scope.Domain, p journal.Period) ([]journal.BankLine, error) {
	t.Helper()
	sc := finance
	sc.BusinessID, sc.Domain = business, domain
	return books.ListBankLines(t.Context(), sc, p, "NGN", 1)
}

// TestBankLinesComeInFiles checks that a file has at most a thousand lines and the next goes on.
func TestBankLinesComeInFiles(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		postEntries(t, db, "one", noon, journal.Pending)
		var first models.JournalEntry
		if err := db.Read(t.Context()).Take(&first).Error; err != nil {
			t.Fatal(err)
		}
		rows := make([]models.JournalEntry, journal.BankLines+1)
		for i := range rows {
			rows[i] = first
			rows[i].ID, rows[i].Value = 0, int64(i+1)
		}
		rows[journal.BankLines].Value = 0 // has no line
		if err := db.Exec(t.Context()).Create(rows).Error; err != nil {
			t.Fatal(err)
		}
		period := journal.Period{From: first.BookedOn, To: first.BookedOn}
		var all int
		for part, want := range map[int]int{1: journal.BankLines, 2: 1, 3: 0} { // the last movement has no line
			lines, err := books.ListBankLines(t.Context(), finance, period, first.Currency, part)
			if err != nil || len(lines) != want {
				t.Errorf("file %d has %d lines (%v), want %d", part, len(lines), err, want)
			}
			all += len(lines)
		}
		if all != journal.BankLines+1 {
			t.Errorf("the files have %d lines, want %d", all, journal.BankLines+1)
		}
	})
}

// TestLateFactsAreListed checks which facts of a closed month were booked after it.
func TestLateFactsAreListed(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		march := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
		postEntries(t, db, "before", march, journal.Pending)
		books.Clock = func() time.Time { return time.Date(2026, 4, 3, 12, 0, 0, 0, time.UTC) }
		closer := models.User{ID: 1, Name: "Ama Mensah", Email: "ama@example.com"}
		if err := db.Exec(t.Context()).Create(&closer).Error; err != nil {
			t.Fatal(err)
		}
		if _, err := books.CloseMonth(t.Context(), finance, "2026-03"); err != nil {
			t.Fatal(err)
		}
		postEntries(t, db, "late", march, journal.Pending, journal.Sales) // 30, 31 March
		postEntries(t, db, "april", march.AddDate(0, 0, 4), journal.Pending)
		period, err := journal.MonthOf("2026-03")
		if err != nil {
			t.Fatal(err)
		}
		late, err := books.ListLate(t.Context(), finance, period, 10)
		var got []string
		for _, e := range late {
			got = append(got, e.HappenedOn+" booked on "+e.BookedOn+" of "+e.Hash)
		}
		if want := []string{"2026-03-30 booked on 2026-04-01 of late", "2026-03-31 booked on 2026-04-01 of late"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("late facts are %q (%v), want %q", got, err, want)
		}
		if late, err := books.ListLate(t.Context(), finance, period, 1); err != nil || len(late) != 1 {
			t.Errorf("%d late facts are listed (%v), want 1 at most", len(late), err)
		}
		for name, p := range map[string]journal.Period{"the days before": {From: "2026-03-01", To: "2026-03-29"}, "days on which it was booked": {From: "2026-03-01", To: "2026-04-30"}} {
			if late, err := books.ListLate(t.Context(), finance, p, 10); err != nil || len(late) != 0 {
				t.Errorf("%s have %d late facts (%v), want none", name, len(late), err)
			}
		}
		other := finance
		other.Domain = scope.Live
		if late, err := books.ListLate(t.Context(), other, period, 10); err != nil || len(late) != 0 {
			t.Errorf("the live domain has %d late facts (%v), want none", len(late), err)
		}
		other.Role = scope.Developer
		if _, err := books.ListLate(t.Context(), other, period, 10); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a developer gets %v, want forbidden", err)
		}
		months, err := books.ListMonths(t.Context(), finance)
		if err != nil || len(months) != 2 || months[1].ClosedBy != closer.Name || months[0].ClosedBy != "" {
			t.Errorf("the months are %+v (%v), want March closed by %s", months, err, closer.Name)
		}
	})
}
