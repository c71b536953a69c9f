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

// TestSalesOfDaysAddUpToTheStatement checks the sales of days, less reversals.
func TestSalesOfDaysAddUpToTheStatement(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		march := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
		postEntries(t, db, "sold", march, journal.Pending, journal.Sales)                                   // 30, 31 March
		postEntries(t, db, "left", march, journal.Pending, journal.Sales, journal.Reversed)                 // until 1 April
		postEntries(t, db, "back", march, journal.Sales, journal.Reversed, journal.Sales, journal.Reversed) // until 2 April
		postEntries(t, db, "held", march, journal.Pending, journal.Declined)
		period := journal.Period{From: "2026-03-31", To: "2026-04-01"}
		list, err := books.ListSales(t.Context(), finance, period)
		if err != nil {
			t.Fatal(err)
		}
		value := statementOf(t, books, "2026-03-30..2026-03-30").Currencies[0].Sold // of one sale
		var got []string
		total := journal.DaySales{}
		for _, day := range list {
			got = append(got, fmt.Sprintf("%s %s %s: %d sales", day.Day, day.Currency, day.Coin, day.Received/value))
			total.Payments, total.Received = total.Payments+day.Payments, total.Received+day.Received
		}
		want := []string{"2026-03-31 NGN BTC: 1 sales", "2026-04-01 NGN BTC: 0 sales"}
		if !slices.Equal(got, want) {
			t.Errorf("the sales are %q, want %q", got, want)
		}
		line := statementOf(t, books, "2026-03-31..2026-04-01").Currencies[0]
		if total.Payments != line.Payments || total.Received != line.Received() {
			t.Errorf("the days add up to %d payments and %d, want %d and %d, as in the statement", total.Payments, total.Received, line.Payments, line.Received())
		}
		other := finance
		other.BusinessID = 2
		if list, err := books.ListSales(t.Context(), other, period); len(list) != 0 || err != nil {
			t.Errorf("another business has the sales %v (%v), want none", list, err)
		}
		other = finance
		other.Domain = scope.Live
		if list, err := books.ListSales(t.Context(), other, period); len(list) != 0 || err != nil {
			t.Errorf("the live domain has the sales %v (%v), want none", list, err)
		}
		other.Role = ""
		if _, err := books.ListSales(t.Context(), other, period); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a scope without a role gets %v, want forbidden", err)
		}
		if _, err := books.ListSales(t.Context(), finance, journal.Period{From: "x", To: "2026-04-01"}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("days that can't be read give %v, want invalid", err)
		}
	})
}
