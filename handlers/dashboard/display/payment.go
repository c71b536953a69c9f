// Package display builds what the pages of several areas show: rows of payments, mails and
// deliveries, prices in words, ages, and the addresses of other areas.
package display

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/handlers/dashboard/listing"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// PaymentPath returns the address of a payment's page.
func PaymentPath(reference string) string { return "/dashboard/payments/" + reference }

// FormatHundredths writes an amount in hundredths of a currency.
func FormatHundredths(currency money.Currency, amount int64) string {
	return currency.FormatForPeople(decimal.New(amount, -2))
}

// FormatShare is a share in whole percent, rounded down: 100 % means all.
func FormatShare(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatInt(part*100/whole, 10) + " %"
}

// PaymentRow returns the row of a payment in a list, with times in the business's zone.
func PaymentRow(ctx context.Context, p models.Payment, zone *time.Location) dashboard.PaymentRow {
	coin := money.Coin(p.Coin)
	row := dashboard.PaymentRow{
		Reference: p.Reference, BusinessReference: p.BusinessReference, State: p.Status,
		Customer: p.CustomerName, Email: p.CustomerEmail,
		Fiat: money.Currency(p.Currency).FormatForPeople(decimal.NewFromInt(p.Amount)), Coin: coin.Format(p.Due) + " " + p.Coin,
		CoinSymbol: p.Coin,
		Created:    p.CreatedAt.In(zone), Why: DescribeReason(ctx, p), Method: listing.MethodName(p.Method),
	}
	if p.Paid.Sign() > 0 {
		row.PaidFiat, row.PaidCoin = FormatFiat(p, payment.View{Payment: p}.PaidFiat()), coin.Format(p.Paid)+" "+p.Coin
	}
	if at := payment.CompletedAt(p); at != nil {
		row.Settled = at.In(zone)
	}
	return row
}

// PaymentRows returns the rows of payments in a list.
func PaymentRows(ctx context.Context, payments []models.Payment, zone *time.Location) []dashboard.PaymentRow {
	rows := make([]dashboard.PaymentRow, 0, len(payments))
	for _, p := range payments {
		rows = append(rows, PaymentRow(ctx, p, zone))
	}
	return rows
}

// DescribeReason is the short reason beside a state.
func DescribeReason(ctx context.Context, p models.Payment) string {
	if p.Reversed {
		return words.T(ctx, "payment.why_reversed")
	}
	return strings.ReplaceAll(p.Reason, "_", " ")
}

// FormatFiat returns an amount in the payment's currency.
func FormatFiat(p models.Payment, d decimal.Decimal) string {
	return money.Currency(p.Currency).FormatForPeople(d)
}

// FirstCurrency is the currency that the forms of a business begin with.
func FirstCurrency(b models.Business) string {
	if money.Currency(b.Currency).IsKnown() {
		return b.Currency
	}
	return string(money.NGN)
}

// UnmatchedPath is the list of transfers that credit no payment.
const UnmatchedPath = "/dashboard/unmatched"
