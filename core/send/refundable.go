package send

import (
	"context"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

// Refundable is money for which a refund can be asked.
type Refundable struct {
	Payment  *payment.View    // the payment, or the one whose address received the transfer; nil for none
	Transfer *models.Transfer // unmatched; nil for a payment's own money
	Coin     money.Coin
	Left     money.Amount // neither refunded nor to be refunded by an open send
	// AskCustomer says that the customer can be asked for the address.
	AskCustomer bool
}

// FindRefundable finds how much of a payment's money, or of an unmatched transfer, can be refunded.
// transfer is 0 for a payment, and reference "" for a transfer.
//
// Faults: Forbidden; NotFound; Conflict where nothing can be refunded, as Ask.
func (s *Service) FindRefundable(ctx context.Context, sc scope.Scope, reference string, transfer int64) (Refundable,
	error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return Refundable{}, err
	}
	from, err := s.findSource(ctx, sc, Request{Payment: reference, TransferID: transfer})
	if err != nil {
		return Refundable{}, err
	}
	found := Refundable{Payment: from.view, Transfer: from.transfer, AskCustomer: s.checkClaim(from) == nil}
	if found.Left, err = readLeft(s.DB.Read(ctx), from); err != nil {
		return found, err
	}
	var row models.Send
	if err := setSource(&row, from, sc, &s.Deps, "", nil); err != nil {
		return found, err
	}
	if found.Coin = money.Coin(row.Coin); found.Left.Sign() <= 0 {
		return found, errAllRefunded
	}
	return found, nil
}

// readLeft returns how much of the money that a refund is of is left, without locking it.
func readLeft(tx *models.Tx, from source) (left money.Amount, err error) {
	if from.transfer != nil {
		if err := checkTransfer(*from.transfer); err != nil {
			return left, err
		}
		return refund.CountLeftOfTransfer(tx, *from.transfer)
	}
	if err := checkPayment(*from.view); err != nil {
		return left, err
	}
	return refund.CountLeft(tx, from.view.Payment)
}
