package payment_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/record"
	"cointill/core/payment/refund"
	"cointill/core/webhook"
	"cointill/models"
)

// paid makes a Successful payment of a transaction.
func (b *bench) paid(txid string) payment.View {
	b.t.Helper()
	v := b.opened()
	b.mine(b.pay(v, txid, v.Payment.Due))
	b.mine()
	return b.expect(v.Payment.Reference, payment.Successful, "")
}

// allTold returns the records in all events of a type, in their order.
func (b *bench) allTold(v payment.View, kind string) (records []record.Record) {
	b.t.Helper()
	var rows []models.Event
	must(b.t, b.db.Read(b.t.Context()).Where("payment_id = ? AND type = ?", v.Payment.ID, kind).Order("sequence").Find(&rows).Error)
	if len(rows) == 0 {
		b.t.Fatalf("%s has no event %s", v.Payment.Reference, kind)
	}
	for _, row := range rows {
		var body struct{ Data record.Record }
		must(b.t, json.Unmarshal([]byte(row.Body), &body))
		records = append(records, body.Data)
	}
	return records
}

// describeTransfers writes the transfers of a record: their hash, and whether they count or are surplus.
func describeTransfers(r record.Record) string {
	var all []string
	for _, m := range r.Transfers {
		text := m.Hash + " on " + m.Network
		if m.Counts {
			text += " counts"
		}
		if m.Surplus {
			text += " is surplus"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestRecordNamesSurplus checks that the record and the events of a payment show what came beside
// it, until that is attached, refunded or gone.
func TestRecordNamesSurplus(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		started := b.initiate()
		v, err := b.service.Open(t.Context(), started.AccessToken, "", "")
		must(t, err)
		ref := v.Payment.Reference
		expect := func(when string, got record.Record, sum, transfers string) {
			t.Helper()
			if got.Transaction.SurplusInCrypto != sum || describeTransfers(got) != transfers {
				t.Errorf("%s the surplus is %s of %q, want %s of %q", when, got.Transaction.SurplusInCrypto, describeTransfers(got), sum, transfers)
			}
		}
		on := " on " + string(network)
		b.mine(b.pay(v, "exact", v.Payment.Due), b.pay(v, "crumb", money.Units(330)))
		expect("before the end", b.view(ref).Record(), "0.00000000", "exact"+on+" counts, crumb"+on+" counts")
		b.mine()
		ended := b.expect(ref, payment.Successful, "")
		expect("at the end", ended.Record(), "0.00000330", "exact"+on+" counts, crumb"+on+" is surplus")
		expect("in the event of the end", b.told(v, webhook.PaymentSuccessful), "0.00000330", "exact"+on+" counts, crumb"+on+" is surplus")
		b.mine(b.pay(v, "later", money.Units(20)))
		expect("with a later transfer", b.view(ref).Record(), "0.00000350", "exact"+on+" counts, crumb"+on+" is surplus, later"+on+" is surplus")
		expect("in the event of the later transfer", b.told(v, webhook.PaymentUnexpectedTransfer), "0.00000350", "exact"+on+" counts, crumb"+on+" is surplus, later"+on+" is surplus")
		b.pool(nil, b.pay(v, "pending", money.Units(5)))
		expect("with an unconfirmed transfer", b.view(ref).Record(), "0.00000350", "exact"+on+" counts, crumb"+on+" is surplus, later"+on+" is surplus, pending"+on+" is surplus")
		b.pool(nil)
		page, err := b.service.ByToken(t.Context(), started.AccessToken)
		must(t, err)
		expect("on the customer's page", page.Record(), "0.00000350", describeTransfers(b.view(ref).Record()))
		var crumb models.Transfer
		must(t, b.db.Read(t.Context()).Where("tx_id = ?", "crumb").Take(&crumb).Error)
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), crumb.ID, refund.Report{Note: "sent back"}))
		expect("after a refund of the crumb", b.view(ref).Record(), "0.00000020", "exact"+on+" counts, crumb"+on+" is surplus, later"+on+" is surplus, pending"+on+" is surplus")
		if got := b.view(ref).Record().Transaction; got.RefundedInCrypto != "0.00000000" {
			t.Errorf("the refund of surplus is a refund of %s of the payment, want none", got.RefundedInCrypto)
		}
		b.reorgTo(1)
		expect("without the later block", b.view(ref).Record(), "0.00000000", "exact"+on+" counts, crumb"+on+" is surplus, later"+on+" is surplus, pending"+on+" is surplus")
	})
}

// TestRecordSumsAllSurplus (BTC-12) checks that the record lists at most 100 of many surplus
// transfers, and sums all.
func TestRecordSumsAllSurplus(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, other := b.paid("paid"), b.paid("other")
		var many []chain.Transfer
		for i := range payment.MaxTransfers + 20 {
			tx := b.pay(v, "dust", money.Units(3))
			tx.Index = i
			many = append(many, tx)
		}
		b.mine(append(many, b.pay(other, "late", money.Units(7)))...)
		got := b.view(v.Payment.Reference).Record()
		if got.Transaction.SurplusInCrypto != "0.00000360" || len(got.Transfers) != payment.MaxTransfers+1 {
			t.Errorf("the surplus is %s in %d transfers, want 0.00000360, and 100 beside the one that counts", got.Transaction.SurplusInCrypto, len(got.Transfers))
		}
		if got := b.view(other.Payment.Reference).Record(); got.Transaction.SurplusInCrypto != "0.00000007" || len(got.Transfers) != 2 {
			t.Errorf("the surplus of another payment is %s in %d transfers, want its own 0.00000007", got.Transaction.SurplusInCrypto, len(got.Transfers)-1)
		}
	})
}

// TestRecordNamesRefunds checks the refunded amounts and the time of completion in a record.
func TestRecordNamesRefunds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		open := b.opened()
		if got := b.view(open.Payment.Reference).Record(); got.CompletedAt != nil || got.Transaction.RefundedAmount != "0.00" {
			t.Errorf("an open payment was completed at %v, with %s refunded", got.CompletedAt, got.Transaction.RefundedAmount)
		}
		short := b.underpaid("short", 1000)
		ref := short.Payment.Reference
		for _, amount := range []string{"0.00000100", "0.00000200"} {
			_, err := b.resolver.RecordRefund(t.Context(), b.owner(), ref, refund.Report{Amount: amount, Note: "by hand"})
			must(t, err)
		}
		b.mine(b.pay(short, "dust", money.Units(1)), b.pay(short, "more dust", money.Units(2)))
		for _, r := range b.allTold(short, webhook.PaymentUnexpectedTransfer) {
			if r.Transaction.RefundedInCrypto != "0.00000300" || r.Transaction.SurplusInCrypto != "0.00000003" {
				t.Errorf("an event of two in one block says %s refunded and %s surplus, want 0.00000300 and 0.00000003", r.Transaction.RefundedInCrypto, r.Transaction.SurplusInCrypto)
			}
			for _, m := range r.Transfers {
				if m.Confirmations < 1 {
					t.Errorf("a transfer of the event is %s with %d confirmations, want 1 or more", m.Status, m.Confirmations)
				}
			}
		}
		got, v := b.view(ref).Record(), b.view(ref)
		if got.Transaction.RefundedInCrypto != "0.00000300" || got.Transaction.RefundedAmount != v.Fiat(money.Units(300)).StringFixed(2) {
			t.Errorf("%s and %s are refunded, want 0.00000300 at the locked price", got.Transaction.RefundedInCrypto, got.Transaction.RefundedAmount)
		}
		if got.CompletedAt == nil {
			t.Error("a declined payment has no time of completion")
		}
		b.clock.Advance(payment.Monitoring)
		b.look()
		if got := b.expect(open.Payment.Reference, payment.Abandoned, "").Record(); got.CompletedAt != nil {
			t.Errorf("an abandoned payment was completed at %s", *got.CompletedAt)
		}
	})
}
