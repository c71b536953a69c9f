package send_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

// exportRow exports the payments, and returns the values of one by their titles.
func (o *office) exportRow(reference string) map[string]string {
	o.Helper()
	var out bytes.Buffer
	lists := &list.Service{DB: o.db}
	o.must(lists.ExportTable(o.Context(), o.owner, list.Filter{}, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV},
		&out))
	lines, err := csv.NewReader(&out).ReadAll()
	o.must(err)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, title := range lines[0] {
			row[title] = line[i]
		}
		if row["Reference"] == reference {
			return row
		}
	}
	o.Fatalf("the export lacks %s", reference)
	return nil
}

// TestExportNamesRefundsThatSendsMade refunds a payment by sends: the export counts each completed one of its own money
// once, as its record does, beside what a person recorded.
func TestExportNamesRefundsThatSendsMade(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		p := o.paid(money.CryptoBitcoin)
		refund := func(r send.Request) send.View {
			r.Kind, r.Address = send.Refund, recipient
			o.clock.Advance(time.Minute) // until another proof is allowed
			v, err := o.approve(o.owner, o.ask(r))
			o.must(err)
			return v
		}
		check := func(when, value, amount, hashes string) {
			t.Helper()
			row := o.exportRow(p.Reference)
			for title, want := range map[string]string{"Refunded": value, "Coin refunded": amount,
				"Refund transactions": hashes} {
				if row[title] != want {
					t.Errorf("%s: %s is %q, want %q", when, title, row[title], want)
				}
			}
			paid, err := o.payments.Verify(t.Context(), o.owner, p.Reference)
			o.must(err)
			if got := paid.Record().Transaction.RefundedInCrypto; got != amount && (amount != "" || got != "0.00000000") {
				t.Errorf("%s: the record says that %s is refunded, the export %q", when, got, amount)
			}
		}
		first := refund(send.Request{Payment: p.Reference, Amount: "0.00010000"})
		check("approved", "", "", "")
		paid := o.payFinally(first, "first")
		value := func(sends ...send.View) string {
			var sum int64
			for _, v := range sends {
				sum += v.Send.Value
			}
			return money.FormatHundredths(sum)
		}
		check("the first is final", value(first), "0.00010000", "first")
		second := refund(send.Request{Payment: p.Reference, Amount: "0.00020000"})
		o.payFinally(second, "second")
		check("two are final", value(first, second), "0.00030000", "first second")
		surplus := o.stray("surplus", &p, money.Units(50_000))
		o.payFinally(refund(send.Request{TransferID: surplus.ID}), "of-surplus")
		_, err := o.mark(o.owner, refund(send.Request{Payment: p.Reference, Amount: "0.00005000"}), "In cash")
		o.must(err)
		check("surplus and cash are returned too", value(first, second), "0.00030000", "first second")
		o.must(db.Exec(t.Context()).Create(&models.Resolution{BusinessID: o.owner.BusinessID, Domain: string(scope.Test),
			Kind: payment.Refunded, PaymentID: &p.ID, Asset: "BTC", Amount: money.Units(700), TxID: "recorded"}).Error)
		check("one is recorded", value(first, second), "0.00030700", "recorded first second")
		o.change(*paid, map[string]any{"gone": true, "gone_reason": "dropped", "gone_at": o.clock.Now()})
		o.evaluate(first)
		check("the first left the chain", value(second), "0.00020700", "recorded second")
		o.set(second, map[string]any{"currency": "NGN"})
		check("valued in another currency", "0.00", "0.00020700", "recorded second")
	})
}
