package payment

import (
	"context"
	"errors"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/models"
)

// AttachPlan is what attaching a transfer would do to a payment, by the rules
// that decide every payment.
type AttachPlan struct {
	Transfer UnmatchedTransfer
	// Before and After are the payment as it is, and as it would be right then.
	Before, After View
}

// PlanAttach describes what attaching an unmatched transfer to the payment of a reference
// would do. It attaches it in a transaction that is rolled back, so it changes nothing.
//
// Faults: Forbidden; NotFound for the transfer; Invalid for an unknown reference or a payment
// that the money can't be for; Conflict when the transfer was attached or refunded already.
func (d *Resolver) PlanAttach(ctx context.Context, sc scope.Scope, id int64, reference string) (AttachPlan, error) {
	if err := sc.CheckAction(scope.DecidePayment); err != nil {
		return AttachPlan{}, err
	}
	found, err := d.FindUnmatched(ctx, sc, id)
	if err != nil {
		return AttachPlan{}, err
	}
	named, err := d.findNamed(ctx, sc, reference)
	if err != nil {
		return AttachPlan{}, err
	}
	plan := AttachPlan{Transfer: found}
	err = d.payments.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := d.payments.LoadPayment(tx, named.Payment.ID)
		if err != nil {
			return err
		}
		plan.Before = *v
		if err := d.attachTransfer(tx, sc, id, v); err != nil {
			return err
		}
		plan.After = *v
		return errPlanned
	})
	if errors.Is(err, errPlanned) {
		err = nil
	}
	return plan, err
}

// errPlanned rolls back the transaction in which PlanAttach attaches.
var errPlanned = errors.New("planned")

// findNamed is the payment that a person meant.
func (d *Resolver) findNamed(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if reference == "" {
		return View{}, fault.RefuseField("reference", "Is required: the payment that the money belongs to.")
	}
	v, err := d.payments.Verify(ctx, sc, reference)
	if fault.KindOf(err) == fault.NotFound {
		err = fault.RefuseField("reference", "No payment here has this reference. Look it up under Transactions.")
	}
	return v, err
}

// Provable reports whether the money of a transfer can credit a payment: it can't when its
// amount or its transaction is not proved.
func (t UnmatchedTransfer) Provable() bool { return t.Why != Unproved && t.Why != NoTransaction }

// checkAttachable refuses a payment that a transfer can't be for.
func (d *Resolver) checkAttachable(v View, t models.Transfer) error {
	home := d.payments.Networks.Home
	switch {
	case t.Unmatched == Unproved:
		return fault.RefuseField("reference", "How much this transfer brought is not proved, so it can credit nothing.")
	case t.Unmatched == NoTransaction:
		return fault.RefuseField("reference", "Only the balance of the address tells of this money, and no node in "+
			"which transaction it came, so it can credit nothing. Look the address up in a block explorer, and send "+
			"it back, or accept the payment once it has ended.")
	case t.Asset != v.Payment.Coin:
		return fault.RefuseField("reference", "That payment is in %s, and this is another asset.", v.Payment.Coin)
	case home(t.Network) != home(v.Payment.Network):
		return fault.RefuseField("reference", "That payment is received on another network.")
	case t.Gone || t.Reverted:
		return fault.RefuseField("reference", "This transfer is not on the chain now, so it can credit nothing.")
	case v.State() == Successful:
		return fault.RefuseField("reference", "That payment is successful: it needs no more money.")
	case v.State() == Failed:
		return fault.RefuseField("reference", "That payment failed: it takes no more money. Send this "+
			"money back.")
	case v.Payment.Address == "":
		return fault.RefuseField("reference", "That payment was never opened by its customer: it has no address, "+
			"and takes no money.")
	case TakesNoTransfers(&v) && t.Height == nil:
		return fault.RefuseField("reference", "That payment has ended, and this transfer has no confirmation yet. "+
			"Wait for it.")
	}
	return nil
}

// addTransfer counts a transfer for the payment. An ended payment keeps its state: only its
// amount received changes, for the person who decides.
func (v *View) addTransfer(t *models.Transfer) {
	p := &v.Payment
	seen := v.FirstSeenOnClock(*t)
	t.PaymentID, t.SeenAt, t.Unmatched, t.Resolution = &p.ID, &seen, "", Attached
	v.Transfers = append(v.Transfers[:len(v.Transfers):len(v.Transfers)], *t)
	if p.FirstSeenAt == nil {
		p.FirstSeenAt = &seen
	}
	if TakesNoTransfers(v) {
		p.Paid = p.Paid.Add(t.Amount)
		p.Remark = v.describeOutcome()
	}
}

// Attach gives an unmatched transfer to a payment, as PlanAttach says, and
// returns the payment's reference. Faults: as PlanAttach.
func (d *Resolver) Attach(ctx context.Context, sc scope.Scope, id int64, reference string) (string, error) {
	if err := sc.CheckAction(scope.DecidePayment); err != nil {
		return "", err
	}
	if _, err := d.FindUnmatched(ctx, sc, id); err != nil {
		return "", err
	}
	found, err := d.findNamed(ctx, sc, reference)
	if err != nil {
		return "", err
	}
	return d.payments.ChangePayment(ctx, found.Payment, func(tx *models.Tx, v *View) error {
		return d.attachTransfer(tx, sc, id, v)
	})
}

func (d *Resolver) attachTransfer(tx *models.Tx, sc scope.Scope, id int64, v *View) error {
	t, err := lockTransfer(tx, sc, id)
	if err == nil {
		err = d.checkAttachable(*v, t)
	}
	if err != nil {
		return err
	}
	why := t.Unmatched
	owners, err := ReadOwners(tx, []models.Transfer{t})
	if err != nil {
		return err
	}
	held := journal.Held{PaymentID: t.PaymentID, Currency: owners[0].FindMove(&t, d.payments.Clock()).Currency}
	if err = AddNetwork(tx, d.payments, v, t.Network); err == nil {
		err = SwitchNetwork(tx, d.payments, v, t.Network, v.Payment.Address)
	}
	if err != nil {
		return err
	}
	v.addTransfer(&t)
	t.UpdatedAt = d.payments.Clock()
	if err := tx.Select("PaymentID", "SeenAt", "Unmatched", "Resolution", "UpdatedAt").Where("id = ?", t.ID).
		Updates(&t).Error; err != nil {
		return err
	}
	if err := d.resolveTransfer(tx, sc, t, &models.Resolution{Kind: Attached, PaymentID: &v.Payment.ID,
		Reason: why}); err != nil {
		return err
	}
	amount := t.FormatAmount()
	if err := audit.Record(tx, sc, d.payments.Clock(), "transfer.attached", v.Payment.Reference,
		map[string]string{"hash": t.TxID, "amount": amount, "was": why}); err != nil {
		return err
	}
	step := models.Step{Kind: StepNote, From: v.Payment.Status, To: v.Payment.Status,
		Remark: "A transfer of " + amount + " was attached by hand.", Actor: sc.Actor,
		Detail: timeline.WriteDetail(timeline.Attached, map[string]any{"hash": t.TxID, "index": t.Index,
			"amount": t.Amount.String(), "asset": t.Asset})}
	if err := d.payments.appendStep(tx, v, step); err != nil {
		return err
	}
	moves := v.listMoves(v.Transfers)
	for i := range moves {
		if moves[i].Transfer.ID == t.ID {
			moves[i].Held = &held
		}
	}
	if err := journal.MoveTransfers(tx, d.payments.Clock(), moves); err != nil {
		return err
	}
	return d.payments.decidePayments(tx, v)
}

// MarkRefunded records that an unmatched transfer was sent back whole.
//
// Faults: Forbidden; NotFound; Conflict when it was attached or refunded already; Invalid for
// hash and note.
func (d *Resolver) MarkRefunded(ctx context.Context, sc scope.Scope, id int64, r refund.Report) error {
	if err := sc.CheckAction(scope.ResolvePayment); err != nil {
		return err
	}
	if _, err := d.FindUnmatched(ctx, sc, id); err != nil {
		return err
	}
	_, err := idempotency.Do(ctx, d.payments.DB, func(tx *models.Tx) (int64, error) {
		return id, d.markTransferRefunded(tx, sc, id, r)
	})
	if err == nil {
		d.payments.SignalChange()
	}
	return err
}

func (d *Resolver) markTransferRefunded(tx *models.Tx, sc scope.Scope, id int64, r refund.Report) error {
	t, err := lockTransfer(tx, sc, id)
	if err != nil {
		return err
	}
	if err := r.CheckTransfer(t); err != nil {
		return err
	}
	if err := tx.Model(&models.Transfer{}).Where("id = ?", t.ID).
		Updates(map[string]any{"resolution": Refunded, "updated_at": d.payments.Clock()}).Error; err != nil {
		return err
	}
	row := models.Resolution{Kind: Refunded, Reason: t.Unmatched, TxID: r.TxID, Note: r.Note}
	if err := d.resolveTransfer(tx, sc, t, &row); err != nil {
		return err
	}
	if err := BookRefund(tx, row.CreatedAt, row); err != nil {
		return err
	}
	return audit.Record(tx, sc, d.payments.Clock(), "transfer.refund_recorded", t.TxID,
		map[string]string{"amount": t.FormatAmount(), "hash": r.TxID})
}

// CheckRefunded finds what MarkRefunded would refuse, and changes nothing.
func (d *Resolver) CheckRefunded(ctx context.Context, sc scope.Scope, id int64, r refund.Report) (UnmatchedTransfer,
	error) {
	if err := sc.CheckAction(scope.ResolvePayment); err != nil {
		return UnmatchedTransfer{}, err
	}
	found, err := d.FindUnmatched(ctx, sc, id)
	if err != nil {
		return found, err
	}
	if err := checkOpen(d.payments.DB.Read(ctx), found.Transfer); err != nil {
		return found, err
	}
	return found, r.CheckTransfer(found.Transfer)
}

// resolveTransfer completes and records a person's decision about a transfer.
func (d *Resolver) resolveTransfer(tx *models.Tx, sc scope.Scope, t models.Transfer, row *models.Resolution) error {
	row.BusinessID, row.Domain, row.TransferID = sc.BusinessID, string(sc.Domain), &t.ID
	row.Asset, row.Amount, row.Actor, row.CreatedAt = t.Asset, t.Amount, sc.Actor, d.payments.Clock()
	return tx.Create(row).Error
}

// lockTransfer reads a transfer without a resolution or a send that refunds it, and locks its row.
func lockTransfer(tx *models.Tx, sc scope.Scope, id int64) (models.Transfer, error) {
	var t models.Transfer
	if err := sc.Rows(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Take(&t).Error; err != nil {
		return t, fault.MissingRow(err, "unmatched transfer")
	}
	return t, checkOpen(tx, t)
}

// checkOpen refuses a transfer that has a resolution, or that a send refunds, whole or in part.
func checkOpen(tx *models.Tx, t models.Transfer) error {
	if err := checkUnresolved(t); err != nil {
		return err
	}
	left, err := refund.CountLeftOfTransfer(tx, t)
	if err == nil && left.Cmp(t.Amount) < 0 {
		err = fault.New(fault.Conflict, "already_refunded",
			"A refund of this transfer is open or complete. Withdraw it first, in Sends.")
	}
	return err
}
