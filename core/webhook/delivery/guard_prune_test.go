package delivery_test

import (
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// TestPruneOfTheRest forgets pauses and orders that were over 400 days ago, and
// neither those that last nor those of later.
func TestPruneOfTheRest(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		long, later := start.Add(-time.Hour), start.Add(time.Hour)
		for _, row := range []any{
			&models.EndpointPause{ID: 1, EndpointID: "whk_1", Since: long, Until: &start},
			&models.EndpointPause{ID: 2, EndpointID: "whk_1", Since: start, Until: &later},
			&models.EndpointPause{ID: 3, EndpointID: "whk_2", Since: long},
			&models.Resend{ID: "rsd_1", BusinessID: 1, Domain: "test", CountedAt: start, CreatedAt: start, DoneAt: &start},
			&models.Resend{ID: "rsd_2", BusinessID: 1, Domain: "test", CountedAt: start, CreatedAt: later, DoneAt: &later},
			&models.Resend{ID: "rsd_3", BusinessID: 1, Domain: "test", CountedAt: start, CreatedAt: start},
		} {
			b.must(b.DB.Exec(t.Context()).Create(row).Error)
		}
		check := func(pauses, resends int) {
			t.Helper()
			b.prune(1)
			var kept []models.EndpointPause
			var orders []models.Resend
			b.must(b.DB.Read(t.Context()).Find(&kept).Error)
			b.must(b.DB.Read(t.Context()).Find(&orders).Error)
			if len(kept) != pauses || len(orders) != resends {
				t.Errorf("%d pauses and %d orders, want %d and %d: %+v %+v", len(kept), len(orders), pauses, resends, kept, orders)
			}
		}
		b.clock.Advance(delivery.KeepRows)
		check(3, 3)
		b.clock.Advance(time.Second)
		check(2, 2)
		b.clock.Advance(time.Hour)
		check(1, 1)
	})
}

// TestPrunedIsNotSent: an event that lost its body before its delivery's time
// isn't sent without it.
func TestPrunedIsNotSent(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		id := b.emit(1)
		b.must(b.DB.Exec(t.Context()).Model(&models.Event{}).Where("id = ?", id).Updates(map[string]any{"body": "", "pruned": true}).Error)
		b.step()
		if d := b.only(e.ID); d.State != webhook.Cancelled || d.Attempt != 0 || d.LastError != "The event is no longer kept." || len(shop.requests()) != 0 {
			t.Errorf("%+v, %d requests", d, len(shop.requests()))
		}
	})
}
