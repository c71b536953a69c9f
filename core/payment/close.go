package payment

import (
	"context"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/payment/record"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/models"
)

// Close records that a reversed payment was handled: the customer paid again, for example, or
// returned the goods. The payment's state stays, and it needs no decision any more. note says
// how, in at most 300 characters; it may be empty.
//
// Faults: Forbidden; NotFound; Conflict for a payment that is not reversed, or was closed
// already; Invalid for note.
func (d *Resolver) Close(ctx context.Context, sc scope.Scope, reference, note string) error {
	if err := sc.CheckAction(scope.ResolvePayment); err != nil {
		return err
	}
	found, err := d.payments.Verify(ctx, sc, reference)
	if err != nil {
		return err
	}
	_, err = d.payments.ChangePayment(ctx, found.Payment, func(tx *models.Tx, v *View) error {
		return d.closePayment(tx, sc, v, note)
	})
	return err
}

func (d *Resolver) closePayment(tx *models.Tx, sc scope.Scope, v *View, note string) error {
	now, p, fields := d.payments.Clock(), &v.Payment, fault.Fields{}
	switch refund.CheckNote(note, fields); {
	case !p.Reversed:
		return fault.New(fault.Conflict, "not_reversed",
			"Only a reversed payment can be marked as resolved; this one is %s.", record.DescribeState(p.Status))
	case p.ResolvedAt != nil:
		return fault.New(fault.Conflict, "closed", "This payment was already marked as resolved.")
	case len(fields) > 0:
		return fault.Validation(fields)
	}
	p.ResolvedAt = &now
	if err := audit.Record(tx, sc, now, "payment.reversal_closed", p.Reference, nil); err != nil {
		return err
	}
	remark := "The reversal was marked as resolved."
	if note != "" {
		remark += " “" + note + "”"
	}
	if err := d.payments.appendStep(tx, v, models.Step{Kind: StepNote, From: p.Status, To: p.Status, Remark: remark,
		Actor: sc.Actor, Detail: timeline.WriteDetail(timeline.Closed, map[string]any{"note": note})}); err != nil {
		return err
	}
	return d.payments.SavePayment(tx, v)
}
