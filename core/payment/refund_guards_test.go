package payment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/models"
)

// TestRefundsKeepTheFirstDecision checks that a payment keeps the time of its first refund, that a refund
// may be the transaction that paid another payment, and that no note leaves no quotation marks.
func TestRefundsKeepTheFirstDecision(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		hash := strings.Repeat("ab", 32)
		v := b.underpaid("short", 100)
		b.paid(hash)
		record := func(r refund.Report) {
			t.Helper()
			_, err := b.resolver.RecordRefund(t.Context(), b.owner(), v.Payment.Reference, r)
			must(t, err)
		}
		record(refund.Report{Amount: "0.00000040", TxID: hash})
		first := b.view(v.Payment.Reference).Payment.ResolvedAt
		b.clock.Advance(time.Hour)
		record(refund.Report{Amount: "0.00000001", Note: "the rest"})
		if got := b.view(v.Payment.Reference).Payment.ResolvedAt; first == nil || got == nil || !got.Equal(*first) {
			t.Errorf("after a second refund the decision is of %v, want %v", got, first)
		}
		steps, err := b.service.Timeline(t.Context(), b.scope, v.Payment.Reference)
		must(t, err)
		remarks := []string{steps[len(steps)-2].Remark, steps[len(steps)-1].Remark}
		want := []string{"A refund of 0.00000040 BTC was recorded.", "A refund of 0.00000001 BTC was recorded. “the rest”"}
		if !slices.Equal(remarks, want) {
			t.Errorf("the timeline says %q, want %q", remarks, want)
		}
	})
}

// TestAttachedTransfersAreNoRefunds checks that a payment to which money was attached can still be accepted,
// and has no refunds.
func TestAttachedTransfersAreNoRefunds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stray, v := b.stray("stray", money.Units(50)), b.underpaid("short", 100)
		_, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, v.Payment.Reference)
		must(t, err)
		refunds, err := b.resolver.Refunds(t.Context(), b.owner(), v.Payment.ID)
		if len(refunds) != 0 || err != nil {
			t.Errorf("the payment has the refunds %+v (%v), want none", refunds, err)
		}
		must(t, b.resolver.Resolve(t.Context(), b.owner(), v.Payment.Reference))
		b.expect(v.Payment.Reference, payment.Successful, payment.AcceptedByUser)
	})
}

// TestRefundsOfSuccessfulPayments checks that a refund of a payment that is Successful, as earlier releases
// could record it, is booked as an expense.
func TestRefundsOfSuccessfulPayments(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.paid("paid")
		refund := models.Resolution{BusinessID: v.Payment.BusinessID, Domain: v.Payment.Domain, Kind: payment.Refunded,
			PaymentID: &v.Payment.ID, Asset: "BTC", Amount: money.Units(100), Actor: "user:1", CreatedAt: b.clock.Now()}
		must(t, b.db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.Create(&refund).Error; err != nil {
				return err
			}
			return payment.BookRefund(tx, b.clock.Now(), refund)
		}))
		posted := b.posted(v)
		if got := posted[len(posted)-1]; !strings.HasPrefix(got, string(journal.Refunds)+"→wallet 100 NGN ") {
			t.Errorf("the refund is posted as %s, want from refunds to the wallet", got)
		}
	})
}

// TestSurplusThatIsOwed checks that only surplus that is on the chain is owed back, and that each surplus
// transaction has an event.
func TestSurplusThatIsOwed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "paid", v.Payment.Due), b.pay(v, "more", money.Units(700)), b.pay(v, "most", money.Units(900)))
		b.mine()
		if got := b.events(v.Payment.ID); strings.Count(got, "unexpected_transfer") != 2 {
			t.Errorf("the events are %s, want one for each surplus transaction", got)
		}
		id := b.transfer("more").ID
		for _, c := range []struct {
			change map[string]any
			want   string
		}{
			{map[string]any{}, "0.00001600"},
			{map[string]any{"gone": true}, "0.00000900"},
			{map[string]any{"gone": false, "reverted": true}, "0.00000900"},
			{map[string]any{"reverted": false, "height": nil}, "0.00000900"},
		} {
			if len(c.change) > 0 {
				b.set(&models.Transfer{}, id, c.change)
			}
			if got := b.view(v.Payment.Reference).Record().Transaction.SurplusInCrypto; got != c.want {
				t.Errorf("with %v the surplus is %s, want %s", c.change, got, c.want)
			}
		}
	})
}

// TestAmountsOfRefundsSayWhatIsWrong checks the sentence for each amount that can't be refunded.
func TestAmountsOfRefundsSayWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ref := b.underpaid("short", 100).Payment.Reference
		for amount, want := range map[string]string{"0,00000001": "after a point", "x": "above zero", "0": "above zero",
			"5": "Is more than is left to refund"} {
			_, err := b.resolver.PlanRefund(t.Context(), b.owner(), ref, refund.Report{Amount: amount, Note: "by hand"})
			if got := strings.Join(fieldsOf(err)["amount"], " "); !strings.Contains(got, want) {
				t.Errorf("the amount %q is refused with %q, want %q", amount, got, want)
			}
		}
	})
}
