package mail

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/journal"
	"cointill/core/journal/monthly"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/views/words"
)

// MonthlyStatement is the mail with the statement of a month.
func MonthlyStatement(l monthly.Letter) NoticeProps {
	ctx := spokenIn(l.Language)
	p := NoticeProps{Reader: l.Language, Title: words.T(ctx, "mail.statement_title", "Business", l.Business, "Month", monthName(ctx, l.Month)),
		Test: l.Domain == scope.Test, URL: l.URL, URLText: words.T(ctx, "mail.statement_see"),
		Before: []string{words.T(ctx, "mail.statement_text", "From", l.Statement.From, "To", l.Statement.To)},
		After:  []string{words.T(ctx, "mail.statement_after"), words.T(ctx, "mail.statement_live")},
		Footer: words.T(ctx, "mail.statement_sent_to", "Email", l.To, "Business", l.Business)}
	if p.Test {
		p.After[1] = words.T(ctx, "mail.statement_test")
	}
	for _, c := range l.Statement.Currencies {
		p.lines = append(p.lines, currencyLines(ctx, c)...)
	}
	for _, c := range l.Statement.Coins {
		p.lines = append(p.lines, line{words.T(ctx, "mail.statement_closing", "Coin", c.Coin, "Network", c.Network),
			money.Coin(c.Coin).Format(c.Closing) + " " + c.Coin})
	}
	return p
}

// monthName writes a month in words.
func monthName(ctx context.Context, month string) string {
	at, err := time.Parse("2006-01", month)
	if err != nil {
		return month
	}
	return words.FormatTime(ctx, at, "January 2006")
}

// currencyLines are a currency's figures. Received is always among them, and the others where they
// are not zero.
func currencyLines(ctx context.Context, c journal.CurrencyLine) []line {
	show := func(value int64) string { return money.Currency(c.Currency).FormatForPeople(decimal.New(value, -2)) }
	all := []line{{words.T(ctx, "mail.statement_received", "Currency", c.Currency), words.N(ctx,
		"mail.statement_payments", int(c.Payments), "Amount", show(c.Received()))}}
	for _, figure := range []struct {
		word  string
		value int64
	}{{"mail.statement_due", c.Due}, {"mail.statement_refunded", c.Refunded}, {"mail.statement_reversed", c.Reversed},
		{"mail.statement_declined", c.Declined}, {"mail.statement_unmatched", c.Unmatched}} {
		if figure.value != 0 {
			all = append(all, line{words.T(ctx, figure.word, "Currency", c.Currency), show(figure.value)})
		}
	}
	return all
}

// RenderMonthlyStatement writes that mail. Its HTML form is left out when it can't be written: the
// text says the same.
func RenderMonthlyStatement(l monthly.Letter) (subject, text, html string) {
	return renderNotice(MonthlyStatement(l))
}
