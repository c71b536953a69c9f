package delivery_test

import (
	"slices"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models/modelstest"
)

// TestPaymentListsWhatWasNotQueued: beside its deliveries a payment lists the events that an endpoint was off for, or
// doesn't receive, in the same form as the endpoint's history. Endpoints of others, and those that were created
// afterwards, are left out, and two statements are enough for all of them.
func TestPaymentListsWhatWasNotQueued(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		active, _ := b.create(owner, newMerchant(t, nil).URL)
		off, _ := b.create(owner, "https://example.com/off")
		b.create(scope.Scope{BusinessID: 2, Domain: scope.Test, Role: scope.Owner}, "https://example.com/theirs")
		b.create(scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Owner}, "https://example.com/live")
		other := webhook.Create{Name: "expired", URL: "https://example.com/expired", Active: true,
			Types: []string{webhook.PaymentExpired}}
		narrow, _, err := b.Create(t.Context(), owner, other)
		b.must(err)
		b.clock.Advance(time.Minute)
		b.toggle(off.ID, false)
		b.clock.Advance(time.Minute)
		b.emit(1)
		b.clock.Advance(time.Minute)
		b.toggle(off.ID, true)
		b.clock.Advance(time.Minute)
		b.emit(2)
		b.clock.Advance(time.Minute)
		b.create(owner, "https://example.com/later")
		history, _, err := b.deliveries.History(t.Context(), owner, off.ID, webhook.Skipped, "", 10)
		if err != nil || len(history) != 1 {
			t.Fatalf("the endpoint's history lists %+v as skipped (error %v), want one", history, err)
		}
		states := func() (list []string) {
			made, err := b.deliveries.DeliveriesOfPayment(t.Context(), owner, 9)
			b.must(err)
			names := map[string]string{active.ID: "active", off.ID: "off", narrow.ID: "narrow"}
			for _, d := range made {
				list = append(list, string(rune('0'+d.Sequence))+" "+names[d.EndpointID]+" "+d.State)
				if d.PaymentID, history[0].PaymentID = nil, nil; d.State == webhook.Skipped && d != history[0] {
					t.Errorf("what was skipped is %+v, want %+v as in the endpoint's history", d, history[0])
				}
			}
			return list
		}
		want := []string{"1 active pending", "1 narrow unsubscribed", "1 off skipped", "2 active pending",
			"2 narrow unsubscribed", "2 off pending"}
		if got := states(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("the payment lists %q, want %q", got, want)
		}
		other.Types = nil
		for range 10 {
			b.clock.Advance(time.Minute)
			_, _, err := b.Create(t.Context(), owner, other)
			b.must(err)
		}
		b.clock.Advance(time.Minute)
		b.emit(3)
		plans := modelstest.ReadPlans(t, b.DB, b.DB.Read(t.Context()), func() {
			_, err := b.deliveries.DeliveriesOfPayment(t.Context(), owner, 9)
			b.must(err)
		})
		if len(plans) != 3 {
			t.Errorf("the deliveries of a payment take %d statements, want 3", len(plans))
		}
	})
}

// TestUnsubscribedWhileOff: an endpoint that was off for an event that it doesn't receive didn't skip it.
func TestUnsubscribedWhileOff(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _, err := b.Create(t.Context(), owner, webhook.Create{Name: "expired", URL: "https://example.com/",
			Types: []string{webhook.PaymentExpired}})
		b.must(err)
		b.clock.Advance(time.Minute)
		event := b.emit(1)
		made, err := b.deliveries.DeliveriesOfPayment(t.Context(), owner, 9)
		if err != nil || len(made) != 1 || made[0].State != webhook.Unsubscribed {
			t.Errorf("the payment lists %+v (error %v), want one event of another type", made, err)
		}
		made, err = b.deliveries.DeliveriesOfEvent(t.Context(), owner, event)
		if err != nil || len(made) != 0 {
			t.Errorf("the event %s lists %+v of %s (error %v), want none", event, made, e.ID, err)
		}
	})
}
