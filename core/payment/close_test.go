package payment_test

import (
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/list"
)

// TestClose: a reversed payment waits until a person says that it was dealt with, also when it
// was accepted before it was reversed.
func TestClose(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		running := b.opened().Payment.Reference
		v := b.underpaid("aa", 100)
		ref := v.Payment.Reference
		if err := b.resolver.Resolve(t.Context(), b.owner(), ref); err != nil {
			t.Fatal(err)
		}
		b.reorg(2, &chain.Pending{})
		b.expect(ref, payment.Successful, payment.ReversedReason)
		if w := b.waiting(); w.Reversed != 1 || len(b.search(list.Filter{Need: list.NeedLook}).Payments) != 1 {
			t.Fatalf("%+v", w)
		}
		if err := b.resolver.Close(t.Context(), b.scope, ref, ""); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a key did it: %v", err)
		}
		for name, note := range map[string]string{"long": strings.Repeat("é", 301), "turned": "paid \u202e anew"} {
			if err := b.resolver.Close(t.Context(), b.owner(), ref, note); len(fieldsOf(err)["note"]) == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := b.resolver.Close(t.Context(), b.owner(), running, ""); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a payment that runs: %v", err)
		}
		if err := b.resolver.Close(t.Context(), b.owner(), ref, "Paid anew"); err != nil {
			t.Fatal(err)
		}
		if w := b.waiting(); w.Reversed != 0 || len(b.search(list.Filter{Need: list.NeedLook}).Payments) != 0 {
			t.Errorf("it waits still: %+v", w)
		}
		if err := b.resolver.Close(t.Context(), b.owner(), ref, ""); fault.KindOf(err) != fault.Conflict {
			t.Errorf("twice: %v", err)
		}
		b.expect(ref, payment.Successful, payment.ReversedReason)
		steps, _ := b.service.Timeline(t.Context(), b.scope, ref)
		if last := steps[len(steps)-1]; last.Actor != "user:1" || !strings.Contains(last.Remark, "“Paid anew”") {
			t.Errorf("%+v", last)
		}
		if got := b.audits(); !slices.Equal(got, []string{"payment.accept", "payment.reversal_closed"}) {
			t.Errorf("audits %v", got)
		}
	})
}

// TestCloseWithoutANote checks what the timeline says when a person gives no note.
func TestCloseWithoutANote(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ref := b.paid("aa").Payment.Reference
		b.reorg(2, &chain.Pending{})
		must(t, b.resolver.Close(t.Context(), b.owner(), ref, ""))
		steps, err := b.service.Timeline(t.Context(), b.scope, ref)
		must(t, err)
		if got := steps[len(steps)-1].Remark; got != "The reversal was marked as resolved." {
			t.Errorf("without a note the timeline says %q, want that the reversal was marked as resolved", got)
		}
	})
}
