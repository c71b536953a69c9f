package payment_test

import (
	"fmt"
	"testing"
	"time"

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
