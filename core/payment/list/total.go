package list

import (
	"context"
	"maps"
	"reflect"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Totals are the sums of the payments of a filter.
type Totals struct {
	Payments int64
	// Due is what they were to pay, in whole units; in a filter by the day booked, only of those that
	// became Successful on its days.
	Due map[money.Currency]int64
	// Sums are the sums of their entries, in the days of a filter by the day booked.
	Sums map[money.Currency]journal.CurrencyLine
	// More says that there are more than TotalsOf. Then there are sums only for a filter by the day
	// booked and the currency alone.
	More bool
}

// TotalsOf is up to how many payments of a filter are added up.
const TotalsOf = 5000

// readDays sets the sums of a filter by the day booked and the currency alone: those of its days.
func (t *Totals) readDays(tx *models.Tx, sc scope.Scope, f Filter) (err error) {
	days, currency := f.Booked, f.Currency
	f.Booked, f.Currency, f.Before, f.After, f.Limit = journal.Period{}, "", Place{}, Place{}, 0
	if days == f.Booked || !reflect.DeepEqual(f, Filter{}) {
		return nil
	}
	t.Sums, err = journal.SumDays(tx, sc, days)
	maps.DeleteFunc(t.Sums, func(of money.Currency, _ journal.CurrencyLine) bool {
		return currency != "" && string(of) != currency
	})
	for of, line := range t.Sums {
		t.Due[of] = line.Due / 100
	}
	return err
}

// Total adds up the payments that a filter chooses; its Before, After and Limit don't matter.
// Faults: Forbidden.
func (s *Service) Total(ctx context.Context, sc scope.Scope, f Filter) (Totals, error) {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return Totals{}, err
	}
	totals := Totals{Due: map[money.Currency]int64{}}
	err = s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		c.read = tx
		ids, err := c.readNearest(position{}, TotalsOf+1)
		if err != nil || len(ids) == 0 {
			return err
		}
		if totals.More = len(ids) > TotalsOf; totals.More {
			return totals.readDays(tx, sc, f)
		}
		these := func() *models.Tx { return models.Among(tx.Model(&models.Payment{}), "id", ids) }
		var rows []struct {
			Currency money.Currency
			N, Sum   int64
		}
		if err := these().Select("currency, count(*) AS n, SUM(amount) AS sum").Group("currency").
			Find(&rows).Error; err != nil {
			return err
		}
		totals.Sums, err = journal.SumPayments(tx, these().Select("id"), c.filter.bookedDays())
		for _, r := range rows {
			totals.Payments += r.N
			totals.Due[r.Currency] = r.Sum
			if f.isBooked() {
				totals.Due[r.Currency] = totals.Sums[r.Currency].Due / 100
			}
		}
		return err
	})
	return totals, err
}
