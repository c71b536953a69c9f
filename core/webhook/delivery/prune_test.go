package delivery_test

import (
	"net/http"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// counts are the rows of events and deliveries, and how many bodies and answers are kept.
type counts struct{ events, bodies, deliveries, attempts, answers int64 }

func (b *bundle) counts() (c counts) {
	b.t.Helper()
	for to, query := range map[*int64]*models.Tx{
		&c.events: b.DB.Read(b.t.Context()).Model(&models.Event{}), &c.bodies: b.DB.Read(b.t.Context()).Model(&models.Event{}).Where("body <> ''"),
		&c.deliveries: b.DB.Read(b.t.Context()).Model(&models.Delivery{}), &c.attempts: b.DB.Read(b.t.Context()).Model(&models.DeliveryAttempt{}),
		&c.answers: b.DB.Read(b.t.Context()).Model(&models.DeliveryAttempt{}).Where("answer <> '' AND request <> '' AND header <> ''"),
	} {
		if err := query.Count(to).Error; err != nil {
			b.t.Fatal(err)
		}
	}
	return c
}

// prune prunes all that there is to prune, in more than so many batches.
func (b *bundle) prune(least int) {
	b.t.Helper()
	for n := 1; ; n++ {
		more, err := delivery.Prune(b.t.Context(), b.DB, b.Clock())
		if err != nil || n > 1000 {
			b.t.Fatal(n, err)
		}
		if !more {
			if n < least {
				b.t.Errorf("%d batches, want at least %d", n, least)
			}
			return
		}
	}
}

// TestPrune empties bodies at 60 days and deletes rows at 400, but leaves alone
// what is still to be delivered.
func TestPrune(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, status(200))
		shop.answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks")) })
		e, _ := b.create(owner, shop.URL)
		for i := range 120 {
			b.typed(webhook.PaymentSuccessful, 1)
			if i == 60 {
				b.step()
			}
		}
		b.step()
		id := b.emit(1) // waits until the end
		if err := b.DB.Exec(ctx).Model(&models.Delivery{}).Where("event_id = ?", id).UpdateColumn("due_at", start.Add(500*24*time.Hour)).Error; err != nil {
			t.Fatal(err)
		}
		if got := b.counts(); got != (counts{121, 121, 121, 120, 120}) {
			t.Fatalf("%+v", got)
		}
		b.clock.Advance(delivery.KeepBodies - time.Second)
		b.prune(1)
		if got := b.counts(); got != (counts{121, 121, 121, 120, 120}) {
			t.Errorf("before 60 days: %+v", got)
		}
		b.clock.Advance(2 * time.Second)
		b.prune(3) // no more than 50 events a time
		if got := b.counts(); got != (counts{121, 1, 121, 120, 0}) {
			t.Errorf("after 60 days: %+v", got)
		}
		list, _, err := b.deliveries.History(ctx, owner, e.ID, webhook.Delivered, "", 1)
		if err != nil || len(list) != 1 {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		if _, err := b.deliveries.Redeliver(ctx, owner, list[0].EventID, ""); fault.KindOf(err) != fault.Gone {
			t.Errorf("an event without its body is sent again: %v", err)
		}
		if one, err := b.Event(ctx, owner, list[0].EventID); err != nil || one.Body != "" || one.Type != webhook.PaymentSuccessful {
			t.Errorf("%+v %v", one, err)
		}
		b.clock.Advance(delivery.KeepRows - delivery.KeepBodies)
		b.prune(3)
		if got := b.counts(); got != (counts{1, 1, 1, 0, 0}) {
			t.Errorf("after 400 days: %+v", got)
		}
		b.clock.Advance(100 * 24 * time.Hour)
		b.step()
		if n := len(shop.requests()); n != 121 {
			t.Errorf("%d requests: what waited was pruned", n)
		}
		b.prune(1)
		if got := b.counts(); got.events != 0 || got.deliveries != 0 || got.attempts != 0 {
			t.Errorf("at the end: %+v", got)
		}
	})
}
