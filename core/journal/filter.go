package journal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Filter says which entries to list.
type Filter struct {
	Period
	Account       Account // on either side; "" for all
	Coin, Network string  // "" for all
	Figure        Figure  // whose entries to list; "" for all
	After         int64   // lists entries with a higher number
	Limit         int     // 1–100
}

// Figure is a figure of CoinLine that no account's movement is.
type Figure string

// The figures, as CoinLine names them.
const (
	FigureReceived Figure = "received"
	FigureLost     Figure = "lost"
	FigureRefunded Figure = "refunded"
)

// Figures lists the figures in the order of pages.
func Figures() []Figure { return []Figure{FigureReceived, FigureLost, FigureRefunded} }

// of returns the figure of a line.
func (f Figure) of(l CoinLine) money.Amount {
	switch f {
	case FigureLost:
		return l.Lost
	case FigureRefunded:
		return l.Refunded
	}
	return l.Received
}

// narrowQuery narrows a query of entries, or of their sums, by all but the days and the figure.
func (f Filter) narrowQuery(query *models.Tx) *models.Tx {
	if f.Account != "" {
		query = query.Where("debit = ? OR credit = ?", string(f.Account), string(f.Account))
	}
	if f.Coin != "" {
		query = query.Where("coin = ?", f.Coin)
	}
	if f.Network != "" {
		query = query.Where("network = ?", f.Network)
	}
	return query
}

// narrowToPeriod narrows a query of entries, or of sums of days, by the whole filter.
func (f Filter) narrowToPeriod(query *models.Tx) *models.Tx {
	query = f.narrowQuery(query.Where("booked_on >= ? AND booked_on <= ?", f.From, f.To))
	switch f.Figure {
	case FigureReceived:
		query = query.Where("kind = ?", Received)
	case FigureLost:
		query = query.Where("kind IN ?", []string{Lost, Left, Restored})
	case FigureRefunded:
		query = query.Where("kind IN ?", []string{Refunded, Completed, Reopened}).
			Where("debit <> ? AND credit <> ?", Payouts, Payouts)
	}
	return query
}

// IsNarrow reports whether the filter leaves out entries of its period.
func (f Filter) IsNarrow() bool {
	return f.Account != "" || f.Coin != "" || f.Network != "" || f.Figure != ""
}

// HasStart reports whether the period of the filter begins later than the books.
func (f Filter) HasStart() bool { return f.From > AllDays().From }

// CoinNetwork is a coin on a network.
type CoinNetwork struct{ Coin, Network string }

// CoinSum is the sum of the entries of a filter in a coin on a network, in smallest units: the figure; for an
// account by how much it grew, less than 0 where it shrank; for neither all that was moved.
type CoinSum struct {
	CoinNetwork
	Sum money.Amount
}

// SumList sums the entries of a filter by coin and network. For an account and a period without a start the
// sums are its balances. The sum of a figure needs a start: there is none otherwise.
//
// Faults: as ReadStatement.
func (s *Service) SumList(ctx context.Context, sc scope.Scope, f Filter) (list []CoinSum, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, err
	}
	if err := f.checkPeriod(); err != nil {
		return nil, err
	}
	if !f.HasStart() && f.Figure != "" {
		return nil, nil
	}
	err = s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		var days []models.JournalDaySum
		if f.HasStart() {
			err = f.narrowToPeriod(selectDays(tx, sc)).Find(&days).Error
		} else {
			days, err = readDaysBefore(tx, sc, nextDay(f.To), f)
		}
		list = f.sumDays(days)
		return err
	})
	return list, err
}

// nextDay returns the day after a day, and the last of all days for that day.
func nextDay(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil || day == AllDays().To {
		return day
	}
	return at.AddDate(0, 0, 1).Format(time.DateOnly)
}

// sumDays adds up sums of days by coin and network, as a statement does.
func (f Filter) sumDays(days []models.JournalDaySum) (list []CoinSum) {
	lines, sums := map[CoinNetwork]CoinLine{}, map[CoinNetwork]money.Amount{}
	for _, d := range days {
		key := CoinNetwork{d.Coin, d.Network}
		sum := sums[key]
		switch {
		case f.Figure != "":
			line := lines[key]
			line.addDay(d, true)
			lines[key], sum = line, f.Figure.of(line)
		case f.Account != "" && f.Account.GrowsByDebit() != (d.Debit == string(f.Account)):
			sum = sum.Sub(d.Amount)
		default:
			sum = sum.Add(d.Amount)
		}
		sums[key] = sum
	}
	for key, sum := range sums {
		list = append(list, CoinSum{key, sum})
	}
	slices.SortFunc(list, func(a, b CoinSum) int {
		return cmp.Or(cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.Network, b.Network))
	})
	return list
}

// CountEntries counts the entries of a filter. Faults: as ReadStatement.
func (s *Service) CountEntries(ctx context.Context, sc scope.Scope, f Filter) (n int64, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return 0, err
	}
	if err := f.checkPeriod(); err != nil {
		return 0, err
	}
	err = f.narrowToPeriod(selectDays(s.DB.List(ctx), sc)).Select("COALESCE(SUM(entries), 0)").Scan(&n).Error
	return n, err
}

// ListCoins lists the coins on networks in which something is booked. Faults: Forbidden.
func (s *Service) ListCoins(ctx context.Context, sc scope.Scope) (list []CoinNetwork, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, err
	}
	err = selectMonths(s.DB.Read(ctx), sc).Distinct("coin", "network").Order("coin, network").Find(&list).Error
	return list, err
}
