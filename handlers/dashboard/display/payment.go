// Package display builds what the pages of several areas show: rows of payments, mails and
// deliveries, prices in words, ages, and the addresses of other areas.
package display

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/handlers/dashboard/listing"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
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

// FormatShares are the shares of parts in their sum, in whole percent that add up to 100. What
// rounding down leaves goes to the largest remainders; only a part that is all gets 100 %.
func FormatShares(parts []int64) []string {
	whole := int64(0)
	for _, part := range parts {
		whole += part
	}
	shown, order := make([]string, len(parts)), make([]int, len(parts))
	if whole == 0 {
		for i := range parts {
			shown[i] = "–"
		}
		return shown
	}
	percent, left := make([]int64, len(parts)), int64(100)
	for i, part := range parts {
		order[i], percent[i] = i, part*100/whole
		left -= percent[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		last := cmp.Compare(percent[a]/99, percent[b]/99)
		return cmp.Or(last, cmp.Compare(parts[b]*100%whole, parts[a]*100%whole))
	})
	for i, at := range order {
		if int64(i) < left {
			percent[at]++
		}
		shown[at] = strconv.FormatInt(percent[at], 10) + " %"
	}
	return shown
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
	if len(coin.Info().Chains()) > 1 {
		row.Network = place.NameNetwork(coin, p.Network)
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
	return ui.ReasonWord(ctx, p.Reason)
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
