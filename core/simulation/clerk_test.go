package simulation_test

import (
	"fmt"
	"math/big"
	"slices"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/models"
)

// decide is a person of the business who decides about money that matches no payment, or sends money of a payment
// back by hand.
func (w *world) decide(r *replica, s *shop) {
	switch w.rng.IntN(4) {
	case 0:
		w.refundTransfer(r, s)
	case 1:
		w.recordRefund(r, s)
	default:
		w.attach(r, s)
	}
}

// pickUnmatched picks a transfer of the shop that is open under Unmatched: often the last one.
func (w *world) pickUnmatched(r *replica, s *shop) (t models.Transfer, found bool) {
	var open []models.Transfer
	w.must(r.DB.Read(w.t.Context()).Where("business_id = ? AND unmatched <> '' AND resolution = ''", s.id).
		Order("id").Find(&open).Error)
	if len(open) == 0 {
		return t, false
	}
	return open[max(w.rng.IntN(len(open)), w.rng.IntN(len(open)))], true
}

// attach gives an unmatched transfer to a payment in its coin: mostly to one that can take money, or will.
func (w *world) attach(r *replica, s *shop) {
	t, found := w.pickUnmatched(r, s)
	if !found {
		return
	}
	open := [][]string{{"initiated", "processing"}, {"initiated", "processing"}, {"abandoned", "declined"},
		{"pending", "successful", "failed", "expired"}}[w.rng.IntN(4)]
	var references []string
	w.must(r.DB.Read(w.t.Context()).Model(&models.Payment{}).Where("business_id = ? AND coin = ? AND status IN ?", s.id,
		t.Asset, open).Order("id").Pluck("business_reference", &references).Error)
	to := w.findPayer(t)
	if len(references) > 0 {
		to = w.findCustomer(references[w.rng.IntN(len(references))])
	}
	if to != nil {
		w.attachTo(r, t, to)
	}
}

// attachOpen attaches money in the payment's coin that is open under Unmatched, before the customer pays.
func (c *customer) attachOpen() {
	var open []models.Transfer
	c.must(c.replicas[0].DB.Read(c.t.Context()).Where("business_id = ? AND asset = ?", c.shop.id, c.coin.Coin).
		Where("unmatched <> '' AND resolution = ''").Order("id").Find(&open).Error)
	if len(open) > 0 {
		c.attachTo(c.replicas[0], open[c.rng.IntN(len(open))], c)
	}
}

// attachTo attaches a transfer to a customer's payment.
func (w *world) attachTo(r *replica, t models.Transfer, to *customer) {
	from := w.findPayer(t)
	err := w.guarded(r, fmt.Sprintf("attaches %s of %s to %d", t.Amount, t.Asset, to.number), func() error {
		_, err := payment.NewResolver(r.Payments).Attach(w.t.Context(), to.shop.scope, t.ID, to.reference)
		return err
	})
	if err != nil && !w.unsure {
		w.refuse("an attachment is refused", err)
		return
	}
	w.count("a transfer is attached")
	for _, c := range []*customer{from, to} {
		if c != nil {
			c.attached = true
		}
	}
}

// refuse counts a refusal.
func (w *world) refuse(what string, err error) {
	if kind := fault.KindOf(err); kind == fault.Conflict || kind == fault.Invalid {
		w.count(what)
	}
}

// findPayer returns the customer to whose payment a transfer came; nil for none.
func (w *world) findPayer(t models.Transfer) *customer {
	if t.PaymentID == nil {
		return nil
	}
	var p models.Payment
	w.must(w.replicas[0].DB.Read(w.t.Context()).Select("business_reference").Where("id = ?", *t.PaymentID).
		Take(&p).Error)
	return w.findCustomer(p.BusinessReference)
}

// findCustomer returns the customer of a reference.
func (w *world) findCustomer(reference string) *customer {
	return w.customers[slices.IndexFunc(w.customers, func(c *customer) bool { return c.reference == reference })]
}

// refundTransfer records that an unmatched transfer was sent back whole.
func (w *world) refundTransfer(r *replica, s *shop) {
	t, found := w.pickUnmatched(r, s)
	if !found {
		return
	}
	err := w.guarded(r, fmt.Sprintf("marks %s of %s as refunded", t.Amount, t.Asset), func() error {
		return payment.NewResolver(r.Payments).MarkRefunded(w.t.Context(), s.scope, t.ID,
			refund.Report{Note: "By hand."})
	})
	if err != nil {
		if !w.unsure {
			w.refuse("marking a transfer as refunded is refused", err)
		}
		return
	}
	w.count("an unmatched transfer is marked as refunded")
	if sent, known := w.nets[chain.Network(t.Network).Code()].byID[t.TxID]; known && w.rng.IntN(2) == 0 {
		if n, depth := w.below(sent, 0); depth > 0 {
			n.reorg(depth)
		}
	}
}

// recordRefund records that a part of what an ended payment received was sent back.
func (w *world) recordRefund(r *replica, s *shop) {
	var ended []models.Payment
	w.must(r.DB.Read(w.t.Context()).Where("business_id = ? AND status IN ('declined', 'successful')", s.id).
		Order("id").Find(&ended).Error)
	if len(ended) == 0 {
		return
	}
	p := ended[w.rng.IntN(len(ended))]
	amount := p.Paid.Big()
	amount.Div(amount, big.NewInt(1+w.rng.Int64N(4)))
	unit := money.Coin(p.Coin).Info().Unit
	err := w.guarded(r, fmt.Sprintf("records a refund of %s of %s", amount, p.BusinessReference), func() error {
		_, err := payment.NewResolver(r.Payments).RecordRefund(w.t.Context(), s.scope, p.Reference,
			refund.Report{Amount: money.FromBig(amount).Format(unit, 0), Note: "By hand."})
		return err
	})
	if err == nil {
		w.count("a refund is recorded")
	} else if !w.unsure {
		w.refuse("recording a refund is refused", err)
	}
}
