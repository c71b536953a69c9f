package delivery_test

import (
	"net/http"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
)

// TestPlan counts what an order would bring before it is given, and the order
// then brings just that.
func TestPlan(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentSuccessful, 4)
		b.step()
		b.toggle(e.ID, false)
		b.clock.Advance(time.Hour)
		off := b.clock.Now()
		b.typed(webhook.PaymentSuccessful, 3)
		b.typed(webhook.PaymentExpired, 2)
		if _, err := b.resends.Plan(ctx, owner, delivery.Order{EndpointID: e.ID, From: off}); fault.KindOf(err) != fault.Conflict {
			t.Error("while it is off:", err)
		}
		b.toggle(e.ID, true)
		b.clock.Advance(time.Second)
		successful := []string{webhook.PaymentSuccessful}
		end := off.Add(time.Second)
		for name, c := range map[string]struct {
			o    delivery.Order
			want delivery.Planned
		}{
			"all failed":      {delivery.Order{EndpointID: e.ID, From: start, Failed: true}, delivery.Planned{Events: 9, Endpoints: 1, Deliveries: 5}},
			"of a type":       {delivery.Order{EndpointID: e.ID, From: start, Failed: true, Types: successful}, delivery.Planned{Events: 7, Endpoints: 1, Deliveries: 3}},
			"a range":         {delivery.Order{EndpointID: e.ID, From: start, Before: &off}, delivery.Planned{Events: 4, Endpoints: 1, Deliveries: 4}},
			"of the pause":    {delivery.Order{EndpointID: e.ID, From: off, Before: &end}, delivery.Planned{Events: 5, Endpoints: 1, Deliveries: 5}},
			"every endpoint":  {delivery.Order{From: start}, delivery.Planned{Events: 9, Endpoints: 2, Deliveries: 18}},
			"nothing in time": {delivery.Order{EndpointID: e.ID, From: b.clock.Now()}, delivery.Planned{Endpoints: 1}},
		} {
			if got, err := b.resends.Plan(ctx, owner, c.o); err != nil || got != c.want {
				t.Errorf("%s: %+v %v, want %+v", name, got, err, c.want)
			}
		}
		types := successful
		if _, err := b.Update(ctx, owner, e.ID, webhook.Change{Types: &types}); err != nil {
			t.Fatal(err)
		}
		if got, err := b.resends.Plan(ctx, owner, delivery.Order{EndpointID: e.ID, From: start, Failed: true}); err != nil || got.Deliveries != 3 {
			t.Errorf("with a filter: %+v %v", got, err)
		}
		if _, err := b.resends.Plan(ctx, owner, delivery.Order{From: start.AddDate(0, -3, 0)}); fault.KindOf(err) != fault.Invalid {
			t.Error("long ago:", err)
		}
		order, err := b.resends.Create(ctx, owner, delivery.Order{EndpointID: e.ID, From: start, Failed: true})
		if err != nil {
			t.Fatal(err)
		}
		b.work()
		if order, err = b.resends.Find(ctx, owner, order.ID); err != nil || order.Made != 3 {
			t.Errorf("%+v %v", order, err)
		}
	})
}

// TestLastAttempts knows when each delivery was last tried.
func TestLastAttempts(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		down := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		e, _ := b.create(owner, down.URL)
		b.emit(1)
		b.step()
		b.clock.Advance(time.Hour)
		second := b.clock.Now()
		b.step()
		b.emit(2)
		list, _, err := b.deliveries.History(t.Context(), owner, e.ID, "", "", 10)
		if err != nil || len(list) != 2 {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		last, err := b.deliveries.LastAttempts(t.Context(), owner, list)
		if a := last[list[1].ID]; err != nil || len(last) != 1 || a.Number != 2 || !a.At.Equal(second) || a.Status != 503 {
			t.Errorf("%+v %v", last, err)
		}
	})
}
