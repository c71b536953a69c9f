package payment

import (
	"context"
	"errors"
	"slices"

	"github.com/shopspring/decimal"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment/record"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/models"
)

// The kinds of resolutions.
const (
	Attached = "attached" // an unmatched transfer was given to a payment
	Refunded = "refunded" // the merchant sent money back, outside of Cointill
)

// Resolver records what people decide about unmatched transfers, Declined and reversed payments, and
// refunds. Make one with NewResolver.
type Resolver struct{ payments *Service }

// NewResolver makes it.
func NewResolver(payments *Service) *Resolver { return &Resolver{payments} }

// Resolve accepts a Declined payment in the name of a person: Successful, with
// the reason accepted_by_user. Owners, admins and keys may.
//
// Faults: Forbidden; NotFound; Conflict for a payment that is not Declined, or
// whose money was sent back or left the chain.
func (d *Resolver) Resolve(ctx context.Context, sc scope.Scope, reference string) error {
	if err := sc.CheckAction(scope.DecidePayment); err != nil {
		return err
	}
	found, err := d.payments.Verify(ctx, sc, reference)
	if err != nil {
		return err
	}
	_, err = d.payments.ChangePayment(ctx, found.Payment, func(tx *models.Tx, v *View) error {
		return d.acceptPayment(tx, sc, v)
	})
	return err
}

func (d *Resolver) acceptPayment(tx *models.Tx, sc scope.Scope, v *View) error {
	if v.State() != Declined {
		return fault.New(fault.Conflict, "not_declined", "Only a declined payment can be accepted; this one is %s.",
			record.DescribeState(v.Payment.Status))
	}
	left, err := refund.CountLeft(tx, v.Payment)
	if err != nil {
		return err
	}
	if left.Cmp(v.Payment.Paid) < 0 {
		return fault.New(fault.Conflict, "refunded",
			"Money of this payment was refunded, or a refund of it is open, so it can't be accepted any more.")
	}
	if v.sumConfirmed().Cmp(v.Payment.Paid) < 0 {
		return fault.New(fault.Conflict, "money_left",
			"Money of this payment left the chain, so it can't be accepted. "+
				"Wait until it is confirmed again.")
	}
	before := v.Payment
	v.Payment.Status, v.Payment.Reason, v.Payment.SettledAt = string(Successful), string(AcceptedByUser), &v.Now
	v.Payment.Remark = v.describeOutcome()
	if err := audit.Record(tx, sc, d.payments.Clock(), "payment.accept", v.Payment.Reference, nil); err != nil {
		return err
	}
	return errors.Join(d.payments.writeTransition(tx, v, before, sc.Actor), d.payments.SavePayment(tx, v),
		bookTransfers(tx, d.payments.Clock(), v, v.Transfers))
}

// sumConfirmed returns the sum of the payment's transfers that are in blocks.
func (v *View) sumConfirmed() (sum money.Amount) {
	for _, t := range v.Transfers {
		if v.Confirmations(t) > 0 {
			sum = sum.Add(t.Amount)
		}
	}
	return sum
}

// RefundPlan is the result of a refund that is not recorded yet.
type RefundPlan struct {
	View   View
	Amount money.Amount
	// Before is the sum of recorded refunds, and of sends that refund the payment, open ones too.
	Before money.Amount
}

// Left returns how much of the amount received would remain.
func (p RefundPlan) Left() money.Amount { return p.View.Payment.Paid.Sub(p.Before).Sub(p.Amount) }

// Fiat returns the value of an amount of the payment's coin at the locked price.
func (v View) Fiat(a money.Amount) decimal.Decimal {
	v.Payment.Paid = a
	return v.PaidFiat()
}

// PlanRefund checks a refund of a Declined payment, and changes nothing.
//
// Faults: Forbidden; NotFound; Conflict for a payment that is not Declined;
// Invalid for amount, hash and note.
func (d *Resolver) PlanRefund(ctx context.Context, sc scope.Scope, reference string, r refund.Report) (RefundPlan,
	error) {
	if err := sc.CheckAction(scope.ResolvePayment); err != nil {
		return RefundPlan{}, err
	}
	v, err := d.payments.Verify(ctx, sc, reference)
	if err != nil {
		return RefundPlan{}, err
	}
	return planRefund(d.payments.DB.Read(ctx), v, r)
}

func planRefund(tx *models.Tx, v View, r refund.Report) (RefundPlan, error) {
	plan := RefundPlan{View: v}
	if v.State() != Declined {
		return plan, fault.New(fault.Conflict, "not_declined",
			"A refund can be recorded for a declined payment only; this one is %s.",
			record.DescribeState(v.Payment.Status))
	}
	refunds, err := refund.List(tx, v.Payment.ID)
	if err != nil {
		return plan, err
	}
	fields := fault.Fields{}
	r.CheckDetails(fields)
	if err := freshHash(tx, v.Payment.ID, r.TxID, refunds, fields); err != nil {
		return plan, err
	}
	digits, err := money.StripGroups(r.Amount)
	amount, _ := v.Coin().Parse(digits) // zero for other text
	most, failed := refund.CountLeft(tx, v.Payment)
	if failed != nil {
		return plan, failed
	}
	plan.Before = v.Payment.Paid.Sub(most)
	switch {
	case err != nil:
		fields.Add("amount", "Write decimals after a point, for example 0.5.")
	case amount.Sign() <= 0:
		fields.Add("amount", "Must be an amount of %s above zero, for example 0.5.", v.Payment.Coin)
	case amount.Cmp(most) > 0:
		fields.Add("amount", "Is more than is left to refund: %s %s.", v.Coin().Format(most), v.Payment.Coin)
	}
	plan.Amount = amount
	return plan, fault.Validation(fields)
}

// freshHash reports a hash that is one of the incoming transactions, which pages offer to
// copy, or that an earlier refund of the payment has.
func freshHash(tx *models.Tx, paymentID int64, hash string, refunds []models.Resolution, fields fault.Fields) error {
	if hash == "" {
		return nil
	}
	var came []string
	if err := tx.Model(&models.Transfer{}).Where("payment_id = ?", paymentID).Pluck("tx_id", &came).Error; err != nil {
		return err
	}
	refund.RefuseIncoming(hash, came, fields)
	if slices.ContainsFunc(refunds, func(r models.Resolution) bool { return refund.SameHash(r.TxID, hash) }) {
		fields.Add("hash", "A refund with this transaction is recorded already.")
	}
	return nil
}

// RecordRefund records that money of a Declined payment was sent back. The payment stays
// Declined and needs no decision any more. It returns the payment's reference. Faults: as
// PlanRefund.
func (d *Resolver) RecordRefund(ctx context.Context, sc scope.Scope, reference string, r refund.Report) (string,
	error) {
	if err := sc.CheckAction(scope.ResolvePayment); err != nil {
		return "", err
	}
	found, err := d.payments.Verify(ctx, sc, reference)
	if err != nil {
		return "", err
	}
	return d.payments.ChangePayment(ctx, found.Payment, func(tx *models.Tx, v *View) error {
		return d.recordRefund(tx, sc, v, r)
	})
}

func (d *Resolver) recordRefund(tx *models.Tx, sc scope.Scope, v *View, r refund.Report) error {
	plan, err := planRefund(tx, *v, r)
	if err != nil {
		return err
	}
	now, p := d.payments.Clock(), &v.Payment
	networks := []string{p.Network}
	for _, t := range v.Transfers {
		if v.Confirmations(t) > 0 && !slices.Contains(networks, t.Network) {
			networks = append(networks, t.Network)
		}
	}
	var held map[string]money.Amount
	if len(networks) > 1 {
		if held, err = journal.ReadHeld(tx, p.ID, journal.Declined); err != nil {
			return err
		}
	}
	before := plan.Before
	for _, share := range refund.Split(plan.Amount, networks, held) {
		row := models.Resolution{BusinessID: p.BusinessID, Domain: p.Domain, Kind: Refunded, PaymentID: &p.ID,
			Asset: p.Coin, Network: share.Network, Amount: share.Amount, TxID: r.TxID, Note: r.Note, Actor: sc.Actor, CreatedAt: now}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		if err := v.postRefund(tx, now, row, before); err != nil {
			return err
		}
		before = before.Add(share.Amount)
	}
	amount := v.Coin().Format(plan.Amount) + " " + p.Coin
	about := map[string]string{"amount": amount, "hash": r.TxID} // the note can be erased, the audit log can't
	if err := audit.Record(tx, sc, now, "payment.refund_recorded", p.Reference, about); err != nil {
		return err
	}
	if p.ResolvedAt == nil {
		p.ResolvedAt = &now
	}
	remark := "A refund of " + amount + " was recorded."
	if r.Note != "" {
		remark += " “" + r.Note + "”"
	}
	if err := d.payments.appendStep(tx, v, models.Step{Kind: StepNote, From: p.Status, To: p.Status, Remark: remark,
		Actor: sc.Actor,
		Detail: timeline.WriteDetail(timeline.Refunded, map[string]any{"hash": r.TxID, "amount": plan.Amount,
			"asset": p.Coin, "note": r.Note})}); err != nil {
		return err
	}
	return d.payments.SavePayment(tx, v)
}

// ReadLeft returns how much of the money of a payment, which Verify returned, is neither refunded nor to be refunded
// by an open send.
func (d *Resolver) ReadLeft(ctx context.Context, sc scope.Scope, p models.Payment) (left money.Amount, err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return left, err
	}
	return refund.CountLeft(d.payments.DB.Read(ctx), p)
}

// Refunds lists the recorded refunds of a payment of the scope, oldest first.
func (d *Resolver) Refunds(ctx context.Context, sc scope.Scope, paymentID int64) ([]models.Resolution, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	return refund.List(sc.Rows(d.payments.DB.Read(ctx)), paymentID)
}
