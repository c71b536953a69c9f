package payments

import (
	"context"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// unmatchedRow is a transfer that credits no payment, as the list shows it.
func unmatchedRow(ctx context.Context, t payment.UnmatchedTransfer, zone *time.Location) dashboard.UnmatchedRow {
	row := dashboard.UnmatchedRow{
		Asset: t.Asset, Address: t.Address, Hash: t.TxID, Seen: t.FirstSeenAt.In(zone), PaymentReference: t.Reference,
	}
	row.Href, row.Network = unmatchedPath(t.ID), place.NameNetwork(money.Coin(t.Asset), t.Network)
	row.Why, row.Advice = unmatchedWords(ctx, t.Why)
	if t.Why == payment.NetworkOff || t.Why == payment.AddressNotEntered {
		row.Why += ": " + row.Network
	}
	if coin := money.Coin(t.Asset).Info(); coin.Coin != "" {
		row.Amount = coin.Coin.Format(t.Amount) + " " + t.Asset
	} else {
		row.Amount, row.Unlisted, row.Units = words.T(ctx, "unmatched.another_asset"), true,
			formatUnits(t.Amount)
	}
	if t.Currency != "" {
		row.Value = display.FormatHundredths(money.Currency(t.Currency), t.Value)
	}
	row.Unproved, row.Done = t.Why == payment.Unproved, t.Resolution != ""
	if t.Tag != nil {
		row.Tag = strconv.FormatInt(*t.Tag, 10)
	}
	switch {
	case t.Resolved != nil && t.Resolved.Kind == payment.Attached:
		row.State, row.Advice = words.T(ctx, "unmatched.state_attached"), words.T(ctx, "unmatched.state_attached_about")
	case t.Resolution == payment.Refunded:
		row.State, row.Advice = words.T(ctx, "unmatched.state_refunded"), words.T(ctx, "unmatched.state_refunded_about")
	case t.Gone:
		row.State = words.T(ctx, "unmatched.gone", "Why", ui.ReasonWord(ctx, t.GoneReason))
	case t.Reverted:
		row.State = words.T(ctx, "unmatched.reverted")
	case t.Height == nil:
		row.State = words.T(ctx, "unmatched.unconfirmed")
	}
	return row
}

// showRefundSend shows in a row that a send refunds its transfer or a part of it.
func showRefundSend(ctx context.Context, row *dashboard.UnmatchedRow, refund models.Send) {
	row.Refund = refund.Reference
	switch {
	case row.Refund == "" || row.Done:
	case refund.Status == string(payment.Successful):
		row.State, row.Advice = words.T(ctx, "unmatched.state_part"), words.T(ctx, "unmatched.state_part_about")
	default:
		row.State, row.Advice = words.T(ctx, "unmatched.state_refund_open"), words.T(ctx, "unmatched.state_refund_open_about")
	}
}

// formatUnits writes an amount in smallest units; "" where the asset's name has the amount.
func formatUnits(a money.Amount) string {
	if a.Sign() == 0 {
		return ""
	}
	return a.String()
}

// unmatchedAdvice are the messages that say what to do about a transfer that credits no payment.
var unmatchedAdvice = map[string]string{
	payment.WrongAsset: "unmatched.wrong_asset_about", payment.NetworkOff: "unmatched.network_off_about",
	payment.AddressNotEntered: "unmatched.not_entered_about",
	payment.OtherAmount:       "unmatched.other_amount_about", payment.MissingTag: "unmatched.no_tag_about",
	payment.UnknownTag: "unmatched.unknown_tag_about", payment.UnknownPayment: "unmatched.unknown_payment_about",
	payment.NotPayment: "unmatched.not_payment_about", payment.NoTransaction: "unmatched.no_transaction_about",
	payment.Unproved: "unmatched.unproved_about", payment.Surplus: "unmatched.surplus_about",
	payment.AfterFinal: "unmatched.after_end_about",
}

// unmatchedWords are why a transfer credits no payment, and what to do about it.
func unmatchedWords(ctx context.Context, code string) (why, advice string) {
	if id, known := unmatchedAdvice[code]; known {
		advice = words.T(ctx, id)
	}
	return ui.UnmatchedWord(ctx, code), advice
}
