package books

import (
	"net/url"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
)

// statementProps builds the page of a statement.
func statementProps(shell layout.Page, s journal.Statement, months []journal.Month,
	today string, mayClose bool) dashboard.StatementProps {
	props := dashboard.StatementProps{Page: shell, From: s.From, To: s.To, Closed: s.Closed,
		Query: periodQuery(s.Period).Encode(), Previous: otherMonth(s.From, -1), Next: otherMonth(s.From, 1)}
	if month, err := journal.MonthOf(s.From[:len("2006-01")]); err == nil && month == s.Period {
		props.Month = s.From[:len("2006-01")]
		props.CanClose = mayClose && !s.Closed && s.To < today
	}
	if props.Next > today[:len("2006-01")] {
		props.Next = ""
	}
	for _, m := range months {
		row := dashboard.MonthRow{Month: m.Month, Closed: m.Closed}
		if m.ClosedAt != nil {
			row.ClosedAt, row.ClosedBy = *m.ClosedAt, m.ClosedBy
		}
		props.Months = append(props.Months, row)
	}
	for _, l := range s.Currencies {
		if l.Movements > 0 {
			props.Banks = append(props.Banks, dashboard.BankRow{Currency: l.Currency, Files: countParts(l.Movements)})
		}
		in := money.Currency(l.Currency)
		fiat := func(value int64) string { return display.FormatHundredths(in, value) }
		props.Currencies = append(props.Currencies, dashboard.CurrencyRow{Currency: l.Currency,
			Payments: int(l.Payments), Due: fiat(l.Due), Received: fiat(l.Received()),
			Difference: fiat(l.Difference()), Reversed: fiat(l.Reversed), Refunded: fiat(l.Refunded), Declined: fiat(l.Declined)})
	}
	for _, l := range s.Coins {
		coin := func(amount money.Amount) string { return formatCoin(money.Coin(l.Coin), amount) }
		props.Coins = append(props.Coins, dashboard.CoinRow{Coin: l.Coin, Network: l.Network, Opening: coin(l.Opening),
			Received: coin(l.Received), Lost: coin(l.Lost), Refunded: coin(l.Refunded),
			PaidOut: coin(l.PaidOut), PaidTwice: coin(l.PaidTwice), NetworkFees: coin(l.NetworkFees),
			Moved: coin(l.Moved), Closing: coin(l.Closing), InFlight: coin(l.InFlight),
			Pending: coin(l.Pending), Declined: coin(l.Declined), Unmatched: coin(l.Unmatched)})
	}
	return props
}

// formatCoin writes an amount of a coin, "0" for none.
func formatCoin(coin money.Coin, amount money.Amount) string {
	if amount.Sign() == 0 {
		return "0"
	}
	return coin.Format(amount)
}

// otherMonth returns the month that is some months after a day's.
func otherMonth(day string, by int) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return time.Date(at.Year(), at.Month()+time.Month(by), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
}

// periodQuery returns a period as the parameters of an address.
func periodQuery(p journal.Period) url.Values { return url.Values{"from": {p.From}, "to": {p.To}} }
