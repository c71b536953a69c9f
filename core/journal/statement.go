package journal

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Service reads and closes the books. Its fields are set once, before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
}

// Period is a range of days, both included, as 2006-01-02 in the business's time zone.
type Period struct{ From, To string }

// AllDays is the period of everything that is booked.
func AllDays() Period { return Period{"0001-01-01", "9999-12-31"} }

// CurrencyLine is a currency's part of a statement. Values are in hundredths.
type CurrencyLine struct {
	Currency string
	Payments int64 // that became Successful
	Due      int64 // of these payments
	Sold     int64 // received by them
	Reversed int64 // of sales that left the chain, less what returned
	Refunded int64 // sent back, as people recorded
	Declined int64 // by how much held money of Declined payments grew; less than 0 where it shrank
	// Unmatched is by how much held money of payments that ended without it grew.
	Unmatched int64
	Movements int64 // of the account Wallet
}

// Received returns the value received by Successful payments, less reversals.
func (l CurrencyLine) Received() int64 { return l.Sold - l.Reversed }

// Difference returns by how much more was received than was due.
func (l CurrencyLine) Difference() int64 { return l.Sold - l.Due }

// CoinLine is a coin's part of a statement, on one network, in smallest units. Opening and Closing
// are the balances of the accounts Wallet and InFlight at the period's ends.
type CoinLine struct {
	Coin, Network    string
	Opening, Closing money.Amount
	Received         money.Amount // confirmed in the period
	Lost             money.Amount // left the chain, less what returned
	Refunded         money.Amount
	PaidOut          money.Amount // by payouts
	PaidTwice        money.Amount // by second transactions of sends
	NetworkFees      money.Amount // of the transactions of sends
	Moved            money.Amount // by the owner's own hand
	InFlight         money.Amount // of sends that were processing at the period's end
	Pending          money.Amount // of payments that have not ended, at the period's end
	Sales            money.Amount // of the period, less what left the chain
	Declined         money.Amount // held at the period's end
	Unmatched        money.Amount // held at the period's end
}

// Statement has the figures of a period.
type Statement struct {
	Period
	Closed     bool  // every month of the period is closed
	Entries    int64 // booked in the period
	Currencies []CurrencyLine
	Coins      []CoinLine
}

// ReadStatement sums the entries of a period, all as of one moment.
//
// Faults: Forbidden; Invalid for an invalid period.
func (s *Service) ReadStatement(ctx context.Context, sc scope.Scope, p Period) (Statement, error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return Statement{}, err
	}
	if err := p.checkPeriod(); err != nil {
		return Statement{}, err
	}
	var statement Statement
	err := s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		days, err := readDaysBefore(tx, sc, p.From, Filter{})
		if err != nil {
			return err
		}
		var within []models.JournalDaySum
		err = selectDays(tx, sc).Where("booked_on >= ? AND booked_on <= ?", p.From, p.To).Find(&within).Error
		if err != nil {
			return err
		}
		open, err := firstOpenDay(tx, books{sc.BusinessID, string(sc.Domain)})
		statement = sumDays(p, append(days, within...))
		statement.Closed = open > p.To
		return err
	})
	return statement, err
}

// readDaysBefore returns the sums of all days before one, without their days, kinds and currencies: of
// the months before its month, of the days of that month, and of entries that are in neither yet. f narrows
// them by account, coin and network.
func readDaysBefore(tx *models.Tx, sc scope.Scope, day string, f Filter) (list []models.JournalDaySum, err error) {
	const accounts = "debit, credit, coin, network"
	first := monthOf(day) + "-01"
	for _, before := range []*models.Tx{
		sc.Rows(tx.Model(&models.JournalMonthSum{})).Where("month < ?", monthOf(day)),
		sc.Rows(tx.Model(&models.JournalDaySum{})).Where("booked_on >= ? AND booked_on < ?", first, day),
		sc.Rows(tx.Table(unsummed)).Where("booked_on < ?", day),
	} {
		var rows []struct {
			Debit, Credit, Coin, Network string
			Sum                          models.AmountSum
		}
		err = models.Select(f.narrowQuery(before).Group(accounts),
			accounts+", "+models.SumAmounts(tx, "amount")+" AS sum").Find(&rows).Error
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			list = append(list, models.JournalDaySum{Debit: r.Debit, Credit: r.Credit, Coin: r.Coin, Network: r.Network,
				Amount: r.Sum.Amount})
		}
	}
	return list, nil
}

// checkPeriod refuses an invalid period.
func (p Period) checkPeriod() error { return fault.Validation(p.FindErrors()) }

// FindErrors returns sentences on the fields from and to of an invalid period.
func (p Period) FindErrors() fault.Fields {
	fields := fault.Fields{}
	for name, day := range map[string]string{"from": p.From, "to": p.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			fields.Add(name, "Must be a day, such as 2026-03-31.")
		}
	}
	if len(fields) == 0 && p.From > p.To {
		fields.Add("to", "Must not be before the first day.")
	}
	return fields
}

// MonthOf returns the days of a month, such as 2026-03. Fault: Invalid.
func MonthOf(text string) (Period, error) {
	month, err := time.Parse(monthLayout, text)
	if err != nil {
		return Period{}, fault.RefuseField("period", "Must be a month, such as 2026-03.")
	}
	return Period{month.Format(time.DateOnly), month.AddDate(0, 1, -1).Format(time.DateOnly)}, nil
}

// ParsePeriod reads a month such as 2026-03, or days such as 2026-03-01..2026-03-15. Fault:
// Invalid.
func ParsePeriod(text string) (Period, error) {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		return MonthOf(text)
	}
	p := Period{from, to}
	if p.checkPeriod() != nil {
		return p, fault.RefuseField("period", "Must be a month, such as 2026-03, or days, such as "+
			"2026-03-01..2026-03-15.")
	}
	return p, nil
}

// Month is a month in which something was booked.
type Month struct {
	Month    string // 2006-01
	Closed   bool
	ClosedAt *time.Time // nil while it is open, or was closed with a later month
	ClosedBy string     // the name of the person; "" where ClosedAt is nil
}

// ListMonths lists the months in which something was booked, the latest first. Faults: Forbidden.
func (s *Service) ListMonths(ctx context.Context, sc scope.Scope) (list []Month, err error) {
	closed, err := s.ClosedMonths(ctx, sc)
	if err != nil {
		return nil, err
	}
	var names []string
	if err := selectMonths(s.DB.Read(ctx), sc).Distinct().Order("month DESC").Limit(maxMonths).
		Pluck("month", &names).Error; err != nil {
		return nil, err
	}
	closers := make([]string, len(closed))
	for i, c := range closed {
		closers[i] = c.Actor
	}
	people, err := audit.ReadUsers(s.DB.Read(ctx), closers)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m := Month{Month: name, Closed: len(closed) > 0 && name <= closed[0].Month}
		for i, c := range closed {
			if c.Month == name {
				m.ClosedAt, m.ClosedBy = &closed[i].CreatedAt, people[c.Actor].Name
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// sumDays adds up the sums of days until the end of a period.
func sumDays(p Period, days []models.JournalDaySum) Statement {
	statement := Statement{Period: p}
	coins, currencies := map[[2]string]*CoinLine{}, map[string]*CurrencyLine{}
	for _, d := range days {
		key := [2]string{d.Coin, d.Network}
		if coins[key] == nil {
			coins[key] = &CoinLine{Coin: d.Coin, Network: d.Network}
		}
		coins[key].addDay(d, d.BookedOn >= p.From)
		if d.BookedOn >= p.From {
			statement.Entries += d.Entries
		}
		if d.Currency == "" || d.BookedOn < p.From {
			continue
		}
		if currencies[d.Currency] == nil {
			currencies[d.Currency] = &CurrencyLine{Currency: d.Currency}
		}
		currencies[d.Currency].addDay(d)
	}
	for _, l := range coins {
		l.Opening = l.Closing.Sub(l.Received).Add(l.Lost).Add(l.Refunded).Add(l.PaidOut).Add(l.PaidTwice).
			Add(l.NetworkFees).Add(l.Moved)
		statement.Coins = append(statement.Coins, *l)
	}
	for _, l := range currencies {
		statement.Currencies = append(statement.Currencies, *l)
	}
	slices.SortFunc(statement.Coins, func(a, b CoinLine) int {
		return cmp.Or(cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.Network, b.Network))
	})
	slices.SortFunc(statement.Currencies, func(a, b CurrencyLine) int { return cmp.Compare(a.Currency, b.Currency) })
	return statement
}

// addDay adds the sum of a day to a currency.
func (l *CurrencyLine) addDay(d models.JournalDaySum) {
	l.Payments, l.Due = l.Payments+d.Payments, l.Due+d.Due
	if Account(d.Debit) == Wallet || Account(d.Credit) == Wallet {
		l.Movements += d.Entries
	}
	if refunded, sign := countRefund(d); refunded {
		l.Refunded += sign * d.Value
	}
	for account, sign := range map[string]int64{d.Debit: -1, d.Credit: 1} {
		switch Account(account) {
		case Sales:
			l.Sold += sign * d.Value
		case Declined:
			l.Declined += sign * d.Value
		case Reversed:
			l.Reversed -= sign * d.Value
		case Unmatched:
			l.Unmatched += sign * d.Value
		case Wallet, Pending, Refunds, InFlight, Payouts, PaidTwice, NetworkFees, Owner:
			// have no figure by currency, or one by kind
		}
	}
}

// addDay adds the sum of a day to a coin. within tells days of the period from those before it.
func (l *CoinLine) addDay(d models.JournalDaySum, within bool) {
	for account, sum := range map[string]money.Amount{d.Debit: money.Amount{}.Sub(d.Amount), d.Credit: d.Amount} {
		switch Account(account) {
		case Wallet:
			l.Closing = l.Closing.Sub(sum)
		case InFlight:
			l.Closing, l.InFlight = l.Closing.Sub(sum), l.InFlight.Sub(sum)
		case Pending:
			l.Pending = l.Pending.Add(sum)
		case Declined:
			l.Declined = l.Declined.Add(sum)
		case Unmatched:
			l.Unmatched = l.Unmatched.Add(sum)
		case Sales, Reversed:
			if within {
				l.Sales = l.Sales.Add(sum)
			}
		case Payouts:
			if within {
				l.PaidOut = l.PaidOut.Sub(sum)
			}
		case PaidTwice:
			if within {
				l.PaidTwice = l.PaidTwice.Sub(sum)
			}
		case NetworkFees:
			if within {
				l.NetworkFees = l.NetworkFees.Sub(sum)
			}
		case Owner:
			if within {
				l.Moved = l.Moved.Sub(sum)
			}
		case Refunds: // counted below, by kind
		}
	}
	if !within {
		return
	}
	if refunded, sign := countRefund(d); refunded {
		l.Refunded = l.Refunded.Add(d.Amount.MulDiv(sign, 1))
	}
	switch d.Kind {
	case Received:
		l.Received = l.Received.Add(d.Amount)
	case Lost, Left:
		l.Lost = l.Lost.Add(d.Amount)
	case Restored:
		l.Lost = l.Lost.Sub(d.Amount)
	}
}

// countRefund reports whether entries are refunds, and with -1 that they take refunds back.
func countRefund(d models.JournalDaySum) (refunded bool, sign int64) {
	switch {
	case d.Kind == Refunded:
		return true, 1
	case d.Kind == Completed:
		return Account(d.Debit) != Payouts, 1
	case d.Kind == Reopened:
		return Account(d.Credit) != Payouts, -1
	}
	return false, 0
}
