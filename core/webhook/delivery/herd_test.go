package delivery_test

import (
	"flag"
	"net/http"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

var due = flag.Int("due", 1000, "TestHerd: deliveries that fall due at once; 10000 takes half a minute")

// TestHerd (WH-9): after an outage a thousand deliveries fall due in the same moment
// (with -due 10000, ten thousand), and fail again: no second has more than a twentieth
// of them for the next time. The first retry alone can't be spread so, as it comes
// after five seconds; it is bounded by an endpoint's share of requests at once.
func TestHerd(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(http.StatusServiceUnavailable))
		e, _ := b.create(owner, shop.URL)
		payment := int64(9)
		err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
			for i := range *due {
				err := b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Test, PaymentID: &payment, Sequence: i + 1,
					Type: webhook.PaymentSuccessful, At: b.clock.Now(), Data: map[string]string{"reference": "PAY_1"}})
				if err != nil {
					return err
				}
			}
			return tx.Model(&models.Delivery{}).Where("endpoint_id = ?", e.ID).Updates(map[string]any{"attempt": 1, "tries": 1}).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := b.step(); n != *due {
			t.Fatalf("%d attempts", n)
		}
		var rows []models.Delivery
		if err := b.DB.Read(t.Context()).Where("endpoint_id = ? AND done_at IS NULL AND tries = 2", e.ID).Find(&rows).Error; err != nil || len(rows) != *due {
			t.Fatalf("len(rows) = %v, err = %v", len(rows), err)
		}
		seconds := map[time.Time]int{}
		for _, row := range rows {
			seconds[row.DueAt.Truncate(time.Second)]++
		}
		for at, n := range seconds {
			if n > *due/20 {
				t.Errorf("%d of %d come again at %s", n, *due, at)
			}
		}
	})
}
