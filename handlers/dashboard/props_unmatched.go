package dashboard

import (
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/views/dashboard"
)

// unmatchedRow is a transfer that credits no payment, as the list shows it.
func unmatchedRow(t payment.UnmatchedTransfer, zone *time.Location) dashboard.UnmatchedRow {
	row := dashboard.UnmatchedRow{
		Asset: t.Asset, Address: t.Address, Hash: t.TxID, Seen: t.FirstSeenAt.In(zone), PaymentReference: t.Reference,
	}
	row.Why, row.Advice = unmatchedWords(t.Transfer.Unmatched)
	if coin := money.Coin(t.Asset).Info(); coin.Coin != "" {
		row.Amount = coin.Coin.Format(t.Amount) + " " + t.Asset
	} else {
		row.Amount = "Another asset"
	}
	row.Unproved = t.Transfer.Unmatched == payment.Unproved
	if t.Tag != nil {
		row.Tag = strconv.FormatInt(*t.Tag, 10)
	}
	switch {
	case t.Gone:
		row.State = "Gone: " + t.GoneReason
	case t.Reverted:
		row.State = "Reverted: nothing moved"
	case t.Height == nil:
		row.State = "Seen, unconfirmed"
	}
	return row
}

// unmatchedWords are why a transfer credits no payment, and what to do about it.
func unmatchedWords(code string) (why, advice string) {
	switch code {
	case payment.WrongAsset:
		return "Wrong asset", "Another asset than the payment asked for came to its address."
	case payment.MissingTag:
		return "No destination tag", "It came to your account without a tag, so nobody knows for which payment. Ask who sent it."
	case payment.UnknownTag:
		return "Unknown destination tag", "Its tag was given to no payment. The sender may have mistyped it."
	case payment.UnknownPayment:
		return "Issued before a backup was restored", "It came to an address that may have been shown after the backup was made, so its payment is not known here. " +
			"Look for the address in your orders, webhooks and mails of that time, or ask who sent it."
	case payment.NotPayment:
		return "Not by a payment", "It came to your account in another way than by an ordinary payment, such as an escrow, a check or an offer. Look at the transaction for which, and ask who sent it."
	case payment.Unproved:
		return "Amount not proved", "What the network says of this payment doesn't show what it brought: the amount may be wrong, and perhaps nothing came. " +
			"Look the transaction up in your own wallet before you give anything for it."
	case payment.AfterFinal:
		return "Came after the end", "The payment had ended already. Send it back, or give something for it."
	}
	return strings.ReplaceAll(code, "_", " "), ""
}
