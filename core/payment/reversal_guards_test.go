package payment_test

import (
	"errors"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// TestReversalsQueueNoReceipt checks that only the end of a payment queues a receipt, and not that its
// money leaves the chain or returns.
func TestReversalsQueueNoReceipt(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.set(&models.Business{}, b.scope.BusinessID, map[string]any{"receipts_enabled": false})
		v := b.paid("paid")
		b.set(&models.Business{}, b.scope.BusinessID, map[string]any{"receipts_enabled": true})
		b.reorgTo(2)
		b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		b.mine(b.pay(v, "paid", v.Payment.Due))
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		if n := b.receipts(v.Payment.Reference); n != 0 {
			t.Errorf("a reversal and a restoration queue %d receipts, want none", n)
		}
	})
}

// TestClosedReversalsStayClosed checks that a reversal that a person closed needs no decision again when
// the payment is decided again.
func TestClosedReversalsStayClosed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.paid("paid")
		b.reorgTo(2)
		must(t, b.resolver.Close(t.Context(), b.owner(), v.Payment.Reference, "Paid by bank"))
		must(t, b.service.Evaluate(t.Context(), v.Payment.ID))
		got := b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		if got.Payment.ResolvedAt == nil {
			t.Error("a closed reversal waits for a decision after it was decided again, want that it stays closed")
		}
	})
}

// TestMoneyAfterADayWithoutLooks checks a payment whose money came after its 24 hours while its network
// wasn't read: it was never abandoned, and is declined for the time of the money.
func TestMoneyAfterADayWithoutLooks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.clock.Advance(payment.Monitoring + time.Second)
		b.mine(b.pay(v, "late", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Processing, "")
		b.mine()
		b.expect(v.Payment.Reference, payment.Declined, payment.AfterAbandoned)
	})
}

// TestViewsThatCannotBeRead checks that a payment of no business and one whose row can't be read are
// errors, and not payments that don't exist.
func TestViewsThatCannotBeRead(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened().Payment
		for _, reference := range []string{v.Reference, v.BusinessReference} {
			if _, err := b.service.Verify(t.Context(), scope.Scope{}, reference); !errors.Is(err, scope.ErrZero) {
				t.Errorf("%s of no business returns %v, want %v", reference, err, scope.ErrZero)
			}
		}
		b.unbooked = true
		must(t, b.db.Exec(t.Context()).Exec("UPDATE payments SET due = 'NaN' WHERE id = ?", v.ID).Error)
		_, err := b.service.Verify(t.Context(), b.scope, v.Reference)
		if err == nil || fault.KindOf(err) == fault.NotFound {
			t.Errorf("a payment that can't be read returns %v, want the error of the reading", err)
		}
	})
}

// TestMoneyThatLeftTheChainIsNotAccepted checks that a Declined payment is accepted only while its
// money is confirmed: the books would have no sale for it.
func TestMoneyThatLeftTheChainIsNotAccepted(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.underpaid("moved", 100)
		b.reorgTo(3, b.pay(b.opened(), "moved", v.Payment.Due))
		var f *fault.Fault
		err := b.resolver.Resolve(t.Context(), b.owner(), v.Payment.Reference)
		if !errors.As(err, &f) || f.Code != "money_left" {
			t.Errorf("accepting a payment whose money a reorganisation took: %v, want the fault money_left", err)
		}
		b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
		if n := b.receipts(v.Payment.Reference); n != 0 {
			t.Errorf("%d receipts, want none", n)
		}
	})
}

// TestReceiptsNameTheTransaction checks that a receipt has the hash of the transaction that paid.
func TestReceiptsNameTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.paid("aa")
		var row models.Mail
		must(t, b.db.Read(t.Context()).Take(&row).Error)
		if row.HTML != "by aa" {
			t.Errorf("the receipt is %q, want one that names the transaction aa", row.HTML)
		}
	})
}

// TestReceiptsNameWhatWasBought checks that a receipt has the title of the payment's link, or none without a link, the
// merchant's reference, and the price at which the amount was locked.
func TestReceiptsNameWhatWasBought(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var got mail.Receipt
		b.service.Receipts.Render = func(r mail.Receipt) (subject, text, html string) {
			got = r
			return "s", "t", "h"
		}
		b.linkUses(0)
		link, _ := b.linkUses(0)
		must(t, b.db.Exec(t.Context()).Model(&link).Update("title", "Yoga class").Error)
		for hash, started := range map[string]payment.Started{"aa": b.byLink(link), "bb": b.initiate()} {
			v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
			must(t, err)
			b.mine(b.pay(v, hash, v.Payment.Due))
			b.mine()
			b.expect(started.Reference, payment.Successful, "")
			item := map[string]string{"aa": "Yoga class"}[hash]
			if got.Reference != started.Reference || got.Item != item || got.BusinessReference != started.BusinessReference ||
				got.Price != v.Payment.Price || got.Price == "" || got.ExplorerURL != "" {
				t.Errorf("%s: %+v, want %q, %s, at %s, and no explorer of the sandbox", hash, got, item,
					started.BusinessReference, v.Payment.Price)
			}
		}
	})
}
