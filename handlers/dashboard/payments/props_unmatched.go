package payments

import (
	"context"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// unmatchedRow is a transfer that credits no payment, as the list shows it.
func unmatchedRow(ctx context.Context, t payment.UnmatchedTransfer, zone *time.Location) dashboard.UnmatchedRow {
	row := dashboard.UnmatchedRow{
		Asset: t.Asset, Address: t.Address, Hash: t.TxID, Seen: t.FirstSeenAt.In(zone), PaymentReference: t.Reference,
	}
	row.Href, row.Network = strayPath(t.ID), place.NameNetwork(money.Coin(t.Asset), t.Network)
	row.Why, row.Advice = unmatchedWords(ctx, t.Why)
	if t.Why == payment.NetworkOff {
		row.Why += ": " + row.Network
	}
	if coin := money.Coin(t.Asset).Info(); coin.Coin != "" {
		row.Amount = coin.Coin.Format(t.Amount) + " " + t.Asset
	} else {
		row.Amount, row.Unlisted, row.Units = words.T(ctx, "unmatched.another_asset"), true,
			formatUnits(t.Amount)
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
		row.State = words.T(ctx, "unmatched.gone", "Why", display.ReasonWord(ctx, t.GoneReason))
	case t.Reverted:
		row.State = words.T(ctx, "unmatched.reverted")
	case t.Height == nil:
		row.State = words.T(ctx, "unmatched.unconfirmed")
	}
	return row
}

// formatUnits writes an amount in smallest units; "" where the asset's name has the amount.
func formatUnits(a money.Amount) string {
	if a.Sign() == 0 {
		return ""
	}
	return a.String()
}

// unmatchedWords are why a transfer credits no payment, and what to do about it.
func unmatchedWords(ctx context.Context, code string) (why, advice string) {
	switch code {
	case payment.WrongAsset:
		return words.T(ctx, "unmatched.wrong_asset"), words.T(ctx, "unmatched.wrong_asset_about")
	case payment.NetworkOff:
		return words.T(ctx, "unmatched.network_off"), words.T(ctx, "unmatched.network_off_about")
	case payment.OtherAmount:
		return words.T(ctx, "unmatched.other_amount"), words.T(ctx, "unmatched.other_amount_about")
	case payment.MissingTag:
		return words.T(ctx, "unmatched.no_tag"), words.T(ctx, "unmatched.no_tag_about")
	case payment.UnknownTag:
		return words.T(ctx, "unmatched.unknown_tag"), words.T(ctx, "unmatched.unknown_tag_about")
	case payment.UnknownPayment:
		return words.T(ctx, "unmatched.unknown_payment"), words.T(ctx, "unmatched.unknown_payment_about")
	case payment.NotPayment:
		return words.T(ctx, "unmatched.not_payment"), words.T(ctx, "unmatched.not_payment_about")
	case payment.NoTransaction:
		return words.T(ctx, "unmatched.no_transaction"), words.T(ctx, "unmatched.no_transaction_about")
	case payment.Unproved:
		return words.T(ctx, "unmatched.unproved"), words.T(ctx, "unmatched.unproved_about")
	case payment.Surplus:
		return words.T(ctx, "unmatched.surplus"), words.T(ctx, "unmatched.surplus_about")
	case payment.AfterFinal:
		return words.T(ctx, "unmatched.after_end"), words.T(ctx, "unmatched.after_end_about")
	}
	return strings.ReplaceAll(code, "_", " "), ""
}
