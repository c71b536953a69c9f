package payment_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/models"
)

// TestPagesOfDue (T-3): when one look at a network ends the time of more payments than
// are read at once, it ends that of each.
func TestPagesOfDue(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		rows := make([]models.Payment, 200) // a full page, with one payment more
		v := b.opened()
		for i := range rows {
			of := fmt.Sprint(" ", i)
			rows[i] = v.Payment
			rows[i].ID, rows[i].Reference, rows[i].BusinessReference, rows[i].TokenHash = 0, of, of, of
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(rows, 100).Error)
		b.clock.Advance(payment.Monitoring + time.Microsecond)
		b.look()
		var left []int64
		must(t, b.db.Read(t.Context()).Model(&models.Payment{}).Where("status <> ?", string(payment.Abandoned)).Order("id").Pluck("id", &left).Error)
		if len(left) > 0 {
			t.Errorf("of %d payments, %v are left out", 1+len(rows), left)
		}
	})
}

// TestOneFailingPaymentHoldsUpNoOther checks that of the payments of one block, all but the one that can't
// be decided end, with their money in the books, and that this one is tried again later.
func TestOneFailingPaymentHoldsUpNoOther(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var views []payment.View
		var pays []chain.Transfer
		for i := range 12 { // more than are decided together
			views = append(views, b.opened())
			pays = append(pays, b.pay(views[i], fmt.Sprint("paid ", i), views[i].Payment.Due))
		}
		broken := views[5].Payment
		b.mine(pays...)
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", broken.ID).
			UpdateColumn("status", "unknown").Error)
		b.mine()
		for i, v := range views {
			if i != 5 {
				b.expect(v.Payment.Reference, payment.Successful, "")
			}
		}
		var sold []int64
		must(t, b.db.Read(t.Context()).Model(&models.JournalEntry{}).Where("credit = 'sales'").Order("payment_id").
			Pluck("payment_id", &sold).Error)
		if len(sold) != 11 || slices.Contains(sold, broken.ID) {
			t.Errorf("the books have sales of %d payments (%v), want one of each but %d", len(sold), sold, broken.ID)
		}
		var left models.Payment
		must(t, b.db.Read(t.Context()).Where("id = ?", broken.ID).Take(&left).Error)
		if left.DueAt == nil || !left.DueAt.Equal(b.clock.Now().Add(30*time.Second)) {
			t.Errorf("the payment that can't be decided is due at %v, want 30 s after %v", left.DueAt, b.clock.Now())
		}
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", broken.ID).
			UpdateColumn("status", string(payment.Processing)).Error)
		b.clock.Advance(30 * time.Second)
		b.sweep()
		b.expect(broken.Reference, payment.Successful, "")
	})
}
