package payment_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

// owner is the bench's business in the name of its owner.
func (b *bench) owner() scope.Scope {
	sc := b.scope
	sc.Role, sc.Actor = scope.Owner, "user:1"
	return sc
}

// audits are the acts that were written down since the bench was made.
func (b *bench) audits() (acts []string) {
	b.t.Helper()
	if err := b.db.Read(b.t.Context()).Model(&models.Audit{}).Where("business_id = ? AND action LIKE ?", b.scope.BusinessID, "%e%").
		Where("subject <> ''").Order("id").Pluck("action", &acts).Error; err != nil {
		b.t.Fatal(err)
	}
	return slices.DeleteFunc(acts, func(act string) bool {
		return !strings.HasPrefix(act, "payment.") && !strings.HasPrefix(act, "transfer.")
	})
}

// underpaid is a payment that lacks some units, and has ended.
func (b *bench) underpaid(txid string, lacks int64) payment.View {
	b.t.Helper()
	v := b.opened()
	b.mine(b.pay(v, txid, v.Payment.Due.Sub(money.Units(lacks))))
	b.mine()
	b.clock.Advance(payment.Window + time.Second)
	b.tick()
	return b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
}

// fieldsOf are the fields that an error says to be wrong.
func fieldsOf(err error) map[string][]string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return nil
	}
	return f.Fields.InEnglish()
}

func (b *bench) waiting() list.Waiting {
	b.t.Helper()
	w, err := b.lists().Waiting(b.t.Context(), b.scope)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func TestRefunds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.underpaid(strings.Repeat("aa", 32), 100)
		ref, hash := v.Payment.Reference, strings.Repeat("ab", 32)
		if w := b.waiting(); w.Decisions != 1 {
			t.Errorf("%+v", w)
		}
		for name, c := range map[string]struct {
			refund refund.Report
			field  string
		}{
			"no way back":  {refund.Report{Amount: "0.00000001"}, "note"},
			"no amount":    {refund.Report{Note: "cash"}, "amount"},
			"nothing":      {refund.Report{Amount: "0", Note: "cash"}, "amount"},
			"less":         {refund.Report{Amount: "-1", Note: "cash"}, "amount"},
			"too much":     {refund.Report{Amount: "5", Note: "cash"}, "amount"},
			"a key":        {refund.Report{Amount: "0.00000001", TxID: "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"}, "hash"},
			"a long story": {refund.Report{Amount: "0.00000001", Note: strings.Repeat("é", 301)}, "note"},
			"comma":        {refund.Report{Amount: "0,00000001", Note: "cash"}, "amount"},
			"what came":    {refund.Report{Amount: "0.00000001", TxID: "0x" + strings.Repeat("AA", 32)}, "hash"},
			"turned text":  {refund.Report{Amount: "0.00000001", Note: "cash \u202e back"}, "note"},
		} {
			_, err := b.resolver.RecordRefund(t.Context(), b.owner(), ref, c.refund)
			if _, planned := b.resolver.PlanRefund(t.Context(), b.owner(), ref, c.refund); fault.KindOf(err) != fault.Invalid || fault.KindOf(planned) != fault.Invalid {
				t.Errorf("%s: %v, planned %v", name, err, planned)
			}
			if fields := fieldsOf(err); len(fields[c.field]) == 0 || len(fields) != 1 {
				t.Errorf("%s: %v, not %s", name, fields, c.field)
			}
		}
		if _, err := b.resolver.RecordRefund(t.Context(), b.scope, ref, refund.Report{Amount: "0.00000001", Note: "cash"}); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a key recorded a refund: %v", err)
		}
		plan, err := b.resolver.PlanRefund(t.Context(), b.owner(), ref, refund.Report{Amount: "0.00000040", TxID: hash})
		if err != nil || plan.Left().Cmp(v.Payment.Paid.Sub(money.Units(40))) != 0 {
			t.Errorf("left %s, %v", plan.Left(), err)
		}
		if len(b.audits()) != 0 {
			t.Errorf("planned is done: %v", b.audits())
		}
		got, err := b.resolver.RecordRefund(t.Context(), b.owner(), ref, refund.Report{Amount: "0.00000040", TxID: hash})
		if err != nil || got != ref {
			t.Fatalf("got = %v, err = %v", got, err)
		}
		after := b.expect(ref, payment.Declined, payment.Underpaid)
		if after.Payment.ResolvedAt == nil || b.waiting().Decisions != 0 || len(b.search(list.Filter{Need: list.NeedDecision}).Payments) != 0 {
			t.Error("it waits for a decision still")
		}
		if _, err := b.resolver.RecordRefund(t.Context(), b.owner(), ref, refund.Report{Amount: "0.00000001", TxID: strings.ToUpper(hash)}); len(fieldsOf(err)["hash"]) != 1 {
			t.Errorf("one transaction, recorded twice: %v", err)
		}
		rest := after.Coin().Format(after.Payment.Paid.Sub(money.Units(40)))
		if _, err := b.resolver.RecordRefund(t.Context(), b.owner(), v.Payment.BusinessReference, refund.Report{Amount: rest, Note: "by bank"}); err != nil {
			t.Fatal(err)
		}
		if err := b.resolver.Resolve(t.Context(), b.owner(), ref); fault.KindOf(err) != fault.Conflict {
			t.Errorf("accepted what was sent back: %v", err)
		}
		list, err := b.resolver.Refunds(t.Context(), b.owner(), v.Payment.ID)
		if err != nil || len(list) != 2 || list[0].TxID != hash || list[1].Note != "by bank" {
			t.Errorf("%+v, %v", list, err)
		}
		steps, _ := b.service.Timeline(t.Context(), b.scope, ref)
		if last := steps[len(steps)-1]; last.Actor != "user:1" || !strings.Contains(last.Remark, "“by bank”") {
			t.Errorf("%+v", last)
		}
		if got := b.audits(); !slices.Equal(got, []string{"payment.refund_recorded", "payment.refund_recorded"}) {
			t.Errorf("audits %v", got)
		}
		if _, err := b.resolver.RecordRefund(t.Context(), b.owner(), b.opened().Payment.Reference, refund.Report{Amount: "1", Note: "cash"}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a refund of a payment that runs: %v", err)
		}
	})
}

// stray makes a transfer that credits nothing: it comes to a payment that has ended.
func (b *bench) stray(txid string, amount money.Amount) payment.UnmatchedTransfer {
	b.t.Helper()
	v := b.opened()
	b.mine(b.pay(v, "first-"+txid, v.Payment.Due))
	b.mine()
	b.mine(b.pay(v, txid, amount))
	b.mine()
	return b.open()[0]
}

// open are the transfers that nobody has dealt with, the latest first.
func (b *bench) open() []payment.UnmatchedTransfer {
	b.t.Helper()
	list, _, err := b.resolver.Unmatched(b.t.Context(), b.scope, payment.UnmatchedFilter{Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// TestAttach: an attached transfer counts, and the rules that decide every
// payment decide what becomes of it, just as was foretold.
func TestAttach(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		due := b.opened().Payment.Due
		attach := func(name string, id int64, v payment.View, state payment.State, reason payment.Reason) {
			t.Helper()
			ref := v.Payment.Reference
			plan, err := b.resolver.PlanAttach(t.Context(), b.owner(), id, ref)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if plan.After.State() != state || plan.After.Payment.Reason != string(reason) || plan.Before.State() != b.view(ref).State() {
				t.Errorf("%s: foretold %s %q from %s", name, plan.After.State(), plan.After.Payment.Reason, plan.Before.State())
			}
			if _, err := b.resolver.Attach(t.Context(), b.owner(), id, ref); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := b.expect(ref, state, reason); got.Payment.Paid.Cmp(plan.After.Payment.Paid) != 0 || got.Payment.Remark != plan.After.Payment.Remark {
				t.Errorf("%s: paid %s %q, foretold %s %q", name, got.Payment.Paid, got.Payment.Remark, plan.After.Payment.Paid, plan.After.Payment.Remark)
			}
			if _, err := b.resolver.Attach(t.Context(), b.owner(), id, ref); fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s: twice: %v", name, err)
			}
		}
		waits := b.opened()
		attach("to one that waits", b.stray("s1", due).ID, waits, payment.Successful, "")
		if got := b.events(waits.Payment.ID); got != "initiated processing successful" {
			t.Errorf("events: %s", got)
		}
		if n := b.receipts(waits.Payment.Reference); n != 1 {
			t.Errorf("%d receipts", n)
		}

		short := b.underpaid("short", 100)
		attach("to one that lacks it", b.stray("s2", money.Units(100)).ID, short, payment.Declined, payment.Underpaid)
		if got := b.view(short.Payment.Reference); got.Payment.Paid.Cmp(got.Payment.Due) != 0 || !strings.Contains(got.Payment.Remark, "makes up the rest") {
			t.Errorf("paid %s of %s: %q", got.Payment.Paid, got.Payment.Due, got.Payment.Remark)
		}
		if err := b.resolver.Resolve(t.Context(), b.owner(), short.Payment.Reference); err != nil {
			t.Error(err)
		}

		late := b.opened()
		b.clock.Advance(payment.Monitoring + time.Minute)
		b.tick()
		b.expect(late.Payment.Reference, payment.Abandoned, "")
		third := b.stray("s3", due)
		attach("to one that was abandoned", third.ID, late, payment.Declined, payment.AfterAbandoned)
		if len(b.open()) != 0 {
			t.Errorf("%d are open", len(b.open()))
		}
		list, _, err := b.resolver.Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Resolution: payment.Attached, Limit: 2})
		if err != nil || len(list) != 2 || list[0].TxID != "s3" || list[0].Why != payment.AfterFinal || list[0].Reference != late.Payment.Reference || list[0].Resolved.Actor != "user:1" {
			t.Errorf("%+v, %v", list, err)
		}
		if got := b.audits(); !slices.Equal(got, []string{"transfer.attached", "transfer.attached", "payment.accept", "transfer.attached"}) {
			t.Errorf("audits %v", got)
		}
		b.reorg(1, &chain.Pending{}) // the chain still decides over what was attached
	})
}

func TestAttachRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stray := b.stray("s1", money.Units(700))
		expired, done := b.initiate(), b.opened()
		b.mine(b.pay(done, "done", done.Payment.Due))
		b.mine()
		r := request()
		r.Method = "crypto_dogecoin"
		other, err := b.service.Initiate(t.Context(), b.scope, r)
		if err != nil {
			t.Fatal(err)
		}
		for name, reference := range map[string]string{"nothing": "", "nobody's": "PAY_NOBODYS", "unopened": expired.Reference, "successful": done.Payment.Reference, "another coin": other.Reference} {
			if _, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, reference); len(fieldsOf(err)["reference"]) != 1 {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := b.resolver.PlanAttach(t.Context(), b.owner(), stray.ID, reference); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s, planned: %v", name, err)
			}
		}
		stranger := b.owner()
		stranger.BusinessID++
		if _, err := b.resolver.Attach(t.Context(), stranger, stray.ID, expired.Reference); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a stranger: %v", err)
		}
		clerk := b.owner()
		clerk.Role = scope.Finance
		if _, err := b.resolver.Attach(t.Context(), clerk, stray.ID, expired.Reference); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a clerk attaches a transfer: %v, want that the role may not", err)
		}
		if err := b.resolver.MarkRefunded(t.Context(), b.owner(), stray.ID, refund.Report{}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("refunded in no way: %v", err)
		}
		if err := b.resolver.MarkRefunded(t.Context(), b.owner(), stray.ID, refund.Report{Note: "sent back"}); err != nil {
			t.Fatal(err)
		}
		if err := b.resolver.MarkRefunded(t.Context(), b.owner(), stray.ID, refund.Report{Note: "sent back"}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("twice: %v", err)
		}
		if _, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, b.opened().Payment.Reference); fault.KindOf(err) != fault.Conflict {
			t.Errorf("attached what was sent back: %v", err)
		}
		list, _, err := b.resolver.Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Resolution: payment.Refunded, Limit: 10})
		if err != nil || len(list) != 1 || list[0].Resolved.Note != "sent back" || b.waiting().Unmatched != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
