package delivery_test

import (
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// TestRotatedOften (WH-2): a secret from before signs along as long as it is one of the
// latest three.
func TestRotatedOften(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, secret := b.create(owner, shop.URL)
		secrets := []string{secret}
		for range 5 {
			_, secret, err := b.RotateSecret(t.Context(), owner, e.ID)
			b.must(err)
			secrets = append(secrets, secret)
		}
		b.emit(1)
		b.step()
		got := shop.requests()[0]
		if n := len(strings.Fields(got.header.Get("webhook-signature"))); n != 4 {
			t.Errorf("%d signatures, want 4", n)
		}
		for i, secret := range secrets {
			by, err := standardwebhooks.NewWebhook(secret)
			b.must(err)
			if signs := by.VerifyIgnoringTimestamp([]byte(got.body), got.header) == nil; signs != (i >= 2) {
				t.Errorf("secret %d signs: %v", i, signs)
			}
		}
	})
}

// multiply makes n more of an event, each a microsecond after the one before.
func (b *bundle) multiply(id string, n int) {
	b.t.Helper()
	b.must(b.DB.Exec(b.t.Context()).Exec(`
		INSERT INTO events (id, business_id, domain, number, sequence, type, body, pruned, created_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT e.id || CAST(1000000 + n.i AS text), e.business_id, e.domain, e.number + n.i, e.sequence, e.type, e.body, e.pruned, e.created_at
		FROM events e, n WHERE e.id = ?`, n, id).Error)
}

// last is the id of the latest event.
func (b *bundle) last() string {
	b.t.Helper()
	list, _, err := b.Events(b.t.Context(), owner, webhook.Filter{}, "", 1)
	if err != nil || len(list) != 1 {
		b.t.Fatal(list, err)
	}
	return list[0].ID
}

// TestMostMissed: what an endpoint missed is counted up to 10,000.
func TestMostMissed(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://example.com/")
		b.toggle(e.ID, false)
		b.clock.Advance(time.Hour)
		b.typed(webhook.PaymentSuccessful, 1)
		one := b.last()
		b.multiply(one, delivery.MaxMissed)
		for _, more := range []bool{true, false} {
			if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != delivery.MaxMissed || m.More != more {
				t.Errorf("%+v %v, want more: %v", m, err, more)
			}
			b.must(b.DB.Exec(t.Context()).Where("id = ?", one).Delete(&models.Event{}).Error)
		}
	})
}

// TestMostScanned: one look for skipped events has an end. Where it stopped
// before a page was full, nothing older is shown before what the next look finds.
func TestMostScanned(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e, _ := b.create(owner, "https://example.com/")
		b.typed(webhook.PaymentSuccessful, 1) // has its delivery, from before the pause
		older := b.last()
		b.must(b.DB.Exec(ctx).Model(&models.Delivery{}).Where("event_id = ?", older).Updates(map[string]any{"done_at": start, "outcome": webhook.Cancelled}).Error)
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, false)
		b.clock.Advance(time.Hour)
		b.typed(webhook.PaymentSuccessful, 1)
		missed := b.last()
		b.multiply(missed, 5001)
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, true)
		b.clock.Advance(time.Hour)
		b.sentAgain(e.ID, missed)
		_, behind, err := b.deliveries.History(ctx, owner, e.ID, webhook.Cancelled, "", 1)
		if err != nil || behind == "" {
			t.Fatalf("behind = %v, err = %v", behind, err)
		}
		page, next, err := b.deliveries.History(ctx, owner, e.ID, "", behind, 10)
		if err != nil || len(page) != 0 || next == "" {
			t.Fatalf("the first look has no end: %+v %q %v", page, next, err)
		}
		page, next, err = b.deliveries.History(ctx, owner, e.ID, "", next, 10)
		if err != nil || len(page) != 2 || page[0].EventID != missed || page[1].EventID != older || next != "" {
			t.Errorf("%+v %q %v", page, next, err)
		}
	})
}

// sentAgain gives an endpoint a delivery of now of each event that multiply made
// of one: all delivered, but the last in the list, which was cancelled.
func (b *bundle) sentAgain(endpointID, of string) {
	b.t.Helper()
	db, now := b.DB.Exec(b.t.Context()), b.clock.Now()
	first := models.Delivery{EventID: of + "1000001", EndpointID: endpointID, BusinessID: 1, Domain: "test", DueAt: now, CreatedAt: now, DoneAt: &now, Outcome: webhook.Cancelled}
	b.must(db.Create(&first).Error)
	b.must(db.Exec(`
		INSERT INTO deliveries (event_id, endpoint_id, business_id, domain, attempt, tries, due_at, done_at, outcome, last_status, last_error, resend_id, created_at)
		SELECT e.id, d.endpoint_id, d.business_id, d.domain, 1, 0, d.due_at, d.done_at, 'delivered', 204, '', '', d.created_at
		FROM events e, deliveries d WHERE d.id = ? AND e.id LIKE ? AND e.id <> d.event_id`, first.ID, of+"1%").Error)
}
