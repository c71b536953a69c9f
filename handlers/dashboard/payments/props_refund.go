package payments

import (
	"context"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// refundProps is the form that asks for a refund.
func refundProps(shell layout.Page, v payment.View, refunds []models.Resolution, left money.Amount,
	typed ui.Form) dashboard.RefundProps {
	p, coin := v.Payment, v.Coin()
	if _, any := typed.Values["amount"]; !any && left.Sign() > 0 {
		typed.Values["amount"] = coin.Format(left)
	}
	props := dashboard.RefundProps{Page: shell, Form: typed, Reference: p.Reference, Coin: p.Coin,
		Received: coin.Format(p.Paid) + " " + p.Coin, ReceivedFiat: display.FormatFiat(p, v.PaidFiat()),
		Left: coin.Format(left) + " " + p.Coin, LeftFiat: display.FormatFiat(p, v.Fiat(left)),
		Before: refundRows(refunds, v, page.LoadZone(v.Business))}
	if surplus := p.Paid.Sub(p.Due); surplus.Sign() > 0 {
		props.Surplus = coin.Format(surplus)
	}
	return props
}

// refundReviewProps shows what a refund would record.
func refundReviewProps(shell layout.Page, plan payment.RefundPlan, typed ui.Form) dashboard.RefundReviewProps {
	v, p := plan.View, plan.View.Payment
	show := func(text string) string { return text + " " + p.Coin }
	return dashboard.RefundReviewProps{Page: shell, Form: typed, Reference: p.Reference, Customer: p.CustomerName,
		Email:  p.CustomerEmail,
		Amount: show(v.Coin().Format(plan.Amount)), Fiat: display.FormatFiat(p, v.Fiat(plan.Amount)),
		Left: show(v.Coin().Format(plan.Left())), LeftFiat: display.FormatFiat(p, v.Fiat(plan.Left())),
		All: plan.Left().Sign() == 0}
}

// receiptProps is a payment as a page to print. It shows the amount received, never only the
// amount due.
func receiptProps(ctx context.Context, shell layout.Page, v payment.View, refunds []models.Resolution,
	now time.Time) dashboard.ReceiptProps {
	p, zone := v.Payment, page.LoadZone(v.Business)
	props := dashboard.ReceiptProps{Page: shell, Title: words.T(ctx, "receipt.record"), State: p.Status,
		Business: v.Business.Name, BusinessCode: v.Business.Code,
		Customer: p.CustomerName, Email: p.CustomerEmail, Reference: p.Reference,
		BusinessReference: p.BusinessReference,
		Due:               display.FormatFiat(p, v.Charged()), DueCoin: v.Coin().Format(p.Due) + " " + p.Coin,
		Received: display.FormatFiat(p, v.PaidFiat()), ReceivedCoin: v.Coin().Format(p.Paid) + " " + p.Coin,
		Sentence: sentence(ctx, v), Flag: flag(ctx, p), Rate: "1 " + p.Coin + " = " + p.Price + " " + p.Currency,
		Method: listing.MethodName(p.Method), Network: v.Destination().Network,
		Started: p.CreatedAt.In(zone), Printed: now.In(zone), Zone: zone.String(),
		Refunds: refundRows(refunds, v, zone), Transfers: transferRows(ctx, v, zone), MoreTransfers: moreTransfers(v)}
	if v.State() == payment.Successful && !p.Reversed {
		props.Title = words.T(ctx, "receipt.receipt")
	}
	if at := payment.CompletedAt(p); at != nil {
		props.Settled = at.In(zone)
	}
	return props
}
