package delivery_test

import (
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// ofPayments gives each event a payment of its own, from 1 on, and returns these.
func (b *bundle) ofPayments() (payments []int64) {
	b.t.Helper()
	var events []models.Event
	if err := b.DB.Exec(b.t.Context()).Order("number, id").Find(&events).Error; err != nil {
		b.t.Fatal(err)
	}
	for i, event := range events {
		payments = append(payments, int64(i+1))
		if err := b.DB.Exec(b.t.Context()).Model(&event).Updates(map[string]any{"payment_id": i + 1,
			"sequence": 1}).Error; err != nil {
			b.t.Fatal(err)
		}
	}
	return payments
}

// TestResendOfPayments sends the events of chosen payments again and no others, in batches that become due one after
// the other, and records the order.
func TestResendOfPayments(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx, shop := t.Context(), newMerchant(t, nil)
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 260)
		b.step()
		first, payments := len(shop.requests()), b.ofPayments()
		if plan, err := b.resends.PlanPayments(ctx, owner,
			payments[:250]); err != nil || plan != (delivery.PaymentsPlan{Events: 250, Endpoints: 1}) {
			t.Errorf("the plan is %+v, %v, want 250 events for 1 endpoint", plan, err)
		}
		if none, err := b.resends.CreateForPayments(ctx, owner, payments[:2], true); err != nil || none.Made != 0 {
			t.Errorf("an order for failed events made %d deliveries of delivered ones, %v", none.Made, err)
		}
		order, err := b.resends.CreateForPayments(ctx, owner, payments[:250], false)
		if err != nil || order.Made != 250 || order.Total != 250 || order.Payments != 250 || order.State != delivery.ResendSending {
			t.Fatalf("the order is %+v, %v, want 250 deliveries under way", order, err)
		}
		b.work()
		if n := len(shop.requests()) - first; n != 200 {
			t.Errorf("%d requests came at once, want 200", n)
		}
		for range 2 { // the second time counts what the first delivered
			b.clock.Advance(time.Minute)
			b.work()
		}
		order, err = b.resends.Find(ctx, owner, order.ID)
		if n := len(shop.requests()) - first; n != 250 || err != nil || order.Delivered != 250 || order.State != delivery.ResendDone {
			t.Errorf("at the end there were %d requests and %+v, %v, want 250 delivered", n, order, err)
		}
		var recorded int64
		b.DB.Read(ctx).Model(&models.Audit{}).Where("action = 'webhook.events_resent' AND subject = ?",
			order.ID).Count(&recorded)
		if recorded != 1 {
			t.Errorf("the audit log has %d entries of the order, want 1", recorded)
		}
	})
}

// TestResendOfPaymentsIsRefused names each bound of an order for payments.
func TestResendOfPaymentsIsRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 2)
		payments := b.ofPayments()
		other := owner
		other.BusinessID++
		for name, c := range map[string]struct {
			sc       scope.Scope
			payments []int64
			want     fault.Kind
		}{
			"too many":            {owner, make([]int64, delivery.MaxResendPayments+1), fault.Invalid},
			"none with events":    {owner, []int64{99}, fault.Invalid},
			"of another business": {other, payments, fault.Conflict}, // it has no endpoint
			"by a role that may not": {scope.Scope{BusinessID: owner.BusinessID, Domain: owner.Domain,
				Role: scope.Finance}, payments, fault.Forbidden},
		} {
			if _, err := b.resends.CreateForPayments(t.Context(), c.sc, c.payments, false); fault.KindOf(err) != c.want {
				t.Errorf("%s: %v, want the kind %v", name, err, c.want)
			}
			if _, err := b.resends.PlanPayments(t.Context(), c.sc, c.payments); fault.KindOf(err) != c.want {
				t.Errorf("%s, planned: %v, want the kind %v", name, err, c.want)
			}
		}
	})
}
