package send

import (
	"context"
	"slices"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

// source is the money that a refund is of; a payout has none.
type source struct {
	view     *payment.View    // the payment, or the one whose address received the transfer; nil for none
	transfer *models.Transfer // unmatched; nil for a payment's own money
}

// findSource finds the money that a refund is of.
func (s *Service) findSource(ctx context.Context, sc scope.Scope, r Request) (from source, err error) {
	reference := r.Payment
	if r.TransferID != 0 {
		var t models.Transfer
		if err := sc.Rows(s.DB.Read(ctx)).Where("id = ? AND unmatched <> ''", r.TransferID).Take(&t).Error; err != nil {
			return from, fault.MissingRow(err, "unmatched transfer")
		}
		from.transfer = &t
		if t.PaymentID != nil {
			if err := sc.Rows(s.DB.Read(ctx)).Model(&models.Payment{}).Where("id = ?", *t.PaymentID).
				Pluck("reference", &reference).Error; err != nil {
				return from, err
			}
		}
	}
	if reference != "" {
		v, err := s.Payments.Verify(ctx, sc, reference)
		if err != nil {
			return from, err
		}
		from.view = &v
	}
	return from, nil
}

// setSource sets what the send has from the money that it is of, or for a payout from the network that it names.
func setSource(row *models.Send, from source, sc scope.Scope, d *Deps, named string, fields fault.Fields) error {
	switch {
	case from.transfer != nil:
		row.TransferID, row.PaymentID = &from.transfer.ID, from.transfer.PaymentID
		row.Coin, row.Network = from.transfer.Asset, from.transfer.Network
	case from.view != nil && isPaidElsewhere(*from.view):
		return fault.New(fault.Conflict, "send_unavailable",
			"This payment was paid on two networks. Send the money from "+
				"your wallet, and record the refund.")
	case from.view != nil:
		row.PaymentID, row.Coin, row.Network = &from.view.Payment.ID, from.view.Payment.Coin, from.view.Payment.Network
	default:
		info, _ := money.Method(row.Method).Info()
		network, problem := networks.FindServed(d.Networks, sc.Domain, info, named, fields)
		if !problem.IsZero() {
			return fault.New(fault.Conflict, "send_unavailable", "%s", problem)
		}
		row.Coin, row.Network = string(info.Coin), network
	}
	info := money.Coin(row.Coin).Info()
	if info.Coin == "" {
		return fault.New(fault.Conflict, "send_unavailable", "Only money of the five coins can be refunded here; this "+
			"transfer is of another asset. Send it from your wallet, and record that.")
	}
	row.Method = string(info.Method)
	if !d.CanSign(row.Network) {
		return fault.New(fault.Conflict, "send_unavailable",
			"Sends on %s can't be signed here: send the money from your "+
				"wallet. A refund of a declined payment, or of unmatched money, can be recorded on its page.",
			place.NameNetwork(info.Coin, row.Network))
	}
	if from.view != nil {
		row.Currency = from.view.Payment.Currency
	}
	return nil
}

// isPaidElsewhere reports that money of a payment came on another network than its own.
func isPaidElsewhere(v payment.View) bool {
	return slices.ContainsFunc(v.Transfers, func(t models.Transfer) bool {
		return t.Network != v.Payment.Network && !t.Gone && !t.Reverted && t.Unmatched == ""
	})
}

// lockSource locks the money that a refund is of and returns how much of it is left.
func (s *store) lockSource(tx *models.Tx, from source) (left money.Amount, err error) {
	switch {
	case from.transfer != nil:
		return s.lockTransfer(tx, from.transfer.ID)
	case from.view != nil:
		return s.lockPayment(tx, from.view.Payment.ID)
	}
	return left, nil
}

func (s *store) lockPayment(tx *models.Tx, id int64) (left money.Amount, err error) {
	v, err := s.Payments.LoadPayment(tx, id)
	if err != nil {
		return left, err
	}
	if err := checkPayment(*v); err != nil {
		return left, err
	}
	return refund.CountLeft(tx, v.Payment)
}

// checkPayment refuses a payment that has no final money.
func checkPayment(v payment.View) error {
	if state := v.State(); state != payment.Successful && state != payment.Declined || v.Payment.Reversed {
		return fault.New(fault.Conflict, "nothing_to_refund", "Only a payment that is successful or "+
			"declined has final money to refund. Other money is listed under Unmatched.")
	}
	return nil
}

// lockTransfer locks an unmatched transfer and returns how much of it is left.
func (s *store) lockTransfer(tx *models.Tx, id int64) (left money.Amount, err error) {
	var t models.Transfer
	if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Take(&t).Error; err != nil {
		return left, fault.MissingRow(err, "unmatched transfer")
	}
	if err := checkTransfer(t); err != nil {
		return left, err
	}
	return refund.CountLeftOfTransfer(tx, t)
}

// checkTransfer refuses a transfer that has no money to refund.
func checkTransfer(t models.Transfer) error {
	switch {
	case t.Unmatched == "" || t.Resolution != "":
		return fault.New(fault.Conflict, "nothing_to_refund", "This transfer was attached to a payment, "+
			"or refunded.")
	case !t.IsConfirmed() || t.Unmatched == payment.Unproved:
		return fault.New(fault.Conflict, "nothing_to_refund", "This transfer is not confirmed on the "+
			"chain, so there is no money to refund.")
	}
	return nil
}
