package checkout

import (
	"slices"

	"cointill/core/payment"
	"cointill/models"
	"cointill/views/checkout"
)

// chooseView picks the view of the payment page by the payment's state and clock. problem is
// the reason why the coin's network can't be followed now, or "": with a problem no
// customer is asked to send money.
func chooseView(v payment.View, problem string) checkout.View {
	switch shown := calmView(v); shown {
	case checkout.Confirm, checkout.Waiting, checkout.Partial:
		if problem != "" {
			return checkout.Unavailable
		}
		return shown
	default:
		return shown
	}
}

// calmView returns the face while the network is well.
func calmView(v payment.View) checkout.View {
	switch v.State() {
	case payment.Pending:
		if isOver(v) {
			return checkout.Expired // the sweep says so within two seconds
		}
		if payment.TooSmall(v.Payment) {
			return checkout.TooSmall
		}
		return checkout.Confirm
	case payment.Initiated, payment.Processing:
		return underWay(v)
	case payment.Successful:
		return checkout.Successful
	case payment.Declined:
		return declinedView(v)
	case payment.Failed:
		return checkout.Failed
	case payment.Abandoned:
		if v.Payment.Paid.Sign() > 0 {
			return checkout.Seen // it came all the same; its confirmation changes the state
		}
		return checkout.Abandoned
	}
	return checkout.Expired
}

// underWay tells apart what an opened payment without an end can look like.
func underWay(v payment.View) checkout.View {
	processing := v.State() == payment.Processing
	switch {
	case v.Payment.Paid.Sign() == 0 && mayReturn(v):
		return checkout.Seen
	case v.Payment.Paid.Sign() == 0 && isOver(v):
		return checkout.WindowOver
	case v.Payment.Paid.Sign() == 0:
		return checkout.Waiting
	case !isOver(v) && !v.Enough() && v.AsksForRest():
		return checkout.Partial
	case !isOver(v) && !v.Enough():
		return checkout.PartOnly
	case processing:
		return checkout.Processing
	}
	return checkout.Seen
}

// declinedView tells the three ways to be declined apart. The amount decides where
// the reason is one that this page has no words for.
func declinedView(v payment.View) checkout.View {
	switch payment.Reason(v.Payment.Reason) {
	case payment.Underpaid:
		return checkout.Under
	case payment.Overpaid:
		return checkout.Over
	case payment.Late, payment.AfterAbandoned:
		return checkout.Late
	}
	switch v.Payment.Paid.Cmp(v.Payment.Due) {
	case -1:
		return checkout.Under
	case 1:
		return checkout.Over
	}
	return checkout.Late
}

// isOver reports whether the time to pay has passed.
func isOver(v payment.View) bool { return v.Now.After(v.Payment.ExpiresAt) }

// mayReturn reports a payment whose confirmation a reorganisation took back, or
// whose transfer left the mempool without another in its place: it will most
// likely be confirmed all the same, so the customer should not pay twice.
func mayReturn(v payment.View) bool {
	return payment.Reason(v.Payment.Reason) == payment.Reorged || slices.ContainsFunc(v.Transfers, isDropped)
}

// isDropped reports a transfer that a node's mempool had and has no more.
func isDropped(t models.Transfer) bool {
	return t.Gone && payment.Reason(t.GoneReason) == payment.Dropped
}
