package delivery_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// work lets resends and deliveries go on until nothing is left to do now.
func (b *bundle) work() {
	b.t.Helper()
	for range 100 {
		more, err := b.resends.Step(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		n := b.step()
		if !more && n == 0 {
			b.clock.Advance(100 * time.Millisecond)
			if more, err = b.resends.Step(b.t.Context()); err != nil {
				b.t.Fatal(err)
			} else if !more && b.step() == 0 {
				return
			}
		}
	}
	b.t.Fatal("the resend has no end")
}

// typed commits events of a type, one each millisecond.
func (b *bundle) typed(kind string, n int) {
	b.t.Helper()
	err := b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
		for range n {
			b.clock.Advance(time.Millisecond)
			if err := b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Test, Type: kind, Data: map[string]string{"a": "b"}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) toggle(id string, active bool) webhook.Endpoint {
	b.t.Helper()
	e, err := b.Update(b.t.Context(), owner, id, webhook.Change{Active: &active})
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// bodies counts how often each body came, by its id.
func (m *merchant) bodies() map[string]map[string]int {
	seen := map[string]map[string]int{}
	for _, r := range m.requests() {
		id := r.header.Get("webhook-id")
		if seen[id] == nil {
			seen[id] = map[string]int{}
		}
		seen[id][r.body]++
	}
	return seen
}

// TestMissed is off for a while, in which events are made; they are listed as
// skipped, counted when it is on again, and brought by a resend of what failed.
func TestMissed(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		other, _ := b.create(owner, shop.URL)
		if m, err := b.deliveries.Missed(ctx, owner, e.ID); err != nil || m.Count != 0 || !m.Since.IsZero() {
			t.Error("before it was ever off:", m, err)
		}
		b.typed(webhook.PaymentSuccessful, 3)
		b.step()
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, false)
		off := b.clock.Now()
		b.clock.Advance(time.Hour)
		b.typed(webhook.PaymentSuccessful, 7)
		if _, err := b.deliveries.SendTest(ctx, owner, other.ID); err != nil { // nothing that e could miss
			t.Fatal(err)
		}
		b.step()
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, true)
		m, err := b.deliveries.Missed(ctx, owner, e.ID)
		if err != nil || m.Count != 7 || m.More || !m.Since.Equal(off) || !m.Until.Equal(b.clock.Now()) {
			t.Errorf("%+v %v", m, err)
		}
		b.clock.Advance(time.Hour)
		b.typed(webhook.PaymentSuccessful, 2)
		b.step()
		for state, want := range map[string]int{"": 12, webhook.Skipped: 7, webhook.Delivered: 5, webhook.Pending: 0} {
			if got := b.history(e.ID, state, 4); len(got) != want {
				t.Errorf("%q: %d, want %d: %v", state, len(got), want, got)
			}
		}
		skipped := b.history(e.ID, webhook.Skipped, 100)[0]
		list, err := b.deliveries.DeliveriesOfEvent(ctx, owner, skipped)
		if err != nil || len(list) != 2 || list[1].State != webhook.Skipped || list[1].EndpointID != e.ID || list[0].State != webhook.Delivered {
			t.Errorf("of the event: %+v %v", list, err)
		}
		before := len(shop.requests())
		order, err := b.resends.Create(ctx, owner, delivery.Order{EndpointID: e.ID, From: m.Since, Failed: true})
		if err != nil || order.Total != 9 {
			t.Fatalf("order = %v, err = %v", order, err)
		}
		b.work()
		order, err = b.resends.Find(ctx, owner, order.ID)
		if err != nil || order.State != delivery.ResendQueueing && order.State != delivery.ResendSending && order.State != delivery.ResendDone ||
			order.Made != 7 || order.Walked != 9 || len(shop.requests()) != before+7 {
			t.Errorf("%+v %v, %d requests", order, err, len(shop.requests())-before)
		}
		if m, _ := b.deliveries.Missed(ctx, owner, e.ID); m.Count != 0 {
			t.Errorf("after the resend: %+v", m)
		}
	})
}

// history reads all of an endpoint's history in pages and returns the events'
// ids; it fails when one comes twice or out of order.
func (b *bundle) history(id, state string, page int) (ids []string) {
	b.t.Helper()
	last := time.Time{}
	for cursor := ""; ; {
		list, next, err := b.deliveries.History(b.t.Context(), owner, id, state, cursor, page)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, d := range list {
			if slices.Contains(ids, d.EventID) || !last.IsZero() && d.CreatedAt.After(last) {
				b.t.Errorf("%s at %s is listed twice or out of order", d.EventID, d.CreatedAt)
			}
			ids, last = append(ids, d.EventID), d.CreatedAt
		}
		if cursor = next; cursor == "" {
			return ids
		}
	}
}

// TestResendRange sends a range by time and type again, to every endpoint, in
// batches, with the same ids and bytes, and counts to its end.
func TestResendRange(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		for range 3 {
			b.create(owner, shop.URL)
		}
		b.typed(webhook.PaymentDeclined, 5)
		b.clock.Advance(time.Minute)
		from := b.clock.Now()
		b.typed(webhook.PaymentDeclined, 150)
		b.typed(webhook.PaymentExpired, 10)
		to := b.clock.Now().Add(time.Microsecond)
		b.clock.Advance(time.Minute)
		b.typed(webhook.PaymentDeclined, 5)
		b.step()
		first := len(shop.requests())
		order, err := b.resends.Create(ctx, owner, delivery.Order{Types: []string{webhook.PaymentDeclined}, From: from, Before: &to})
		if err != nil || order.Total != 150 || order.State != delivery.ResendQueueing {
			t.Fatalf("order = %v, err = %v", order, err)
		}
		more, err := b.resends.Step(ctx)
		half, _ := b.resends.Find(ctx, owner, order.ID)
		if err != nil || !more || half.Walked != 66 || half.Made != 198 {
			t.Errorf("after a batch: %+v %v %v", half, more, err)
		}
		b.work()
		b.clock.Advance(time.Minute)
		b.work()
		order, err = b.resends.Find(ctx, owner, order.ID)
		if err != nil || order.State != delivery.ResendDone || order.Made != 450 || order.Delivered != 450 || order.Failures != 0 || order.Walked != 150 {
			t.Errorf("at the end: %+v %v", order, err)
		}
		if n := len(shop.requests()); n != first+450 {
			t.Errorf("%d requests, want %d", n-first, 450)
		}
		for id, bodies := range shop.bodies() {
			if len(bodies) != 1 {
				t.Errorf("%s came with %d bodies", id, len(bodies))
			}
		}
		if list, next, err := b.resends.List(ctx, owner, "", 1); err != nil || len(list) != 1 || next != "" {
			t.Errorf(`b.resends.List(ctx, owner, "", 1): list = %v, next = %v, err = %v`, list, next, err)
		}
	})
}

// TestResendMakesWay (WH-9) holds back while what it queued waits for its first attempt,
// so that a new event doesn't wait behind all of it.
func TestResendMakesWay(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 700)
		b.step()
		if _, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start}); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			b.clock.Advance(time.Second)
			if _, err := b.resends.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var waiting int64
		b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("done_at IS NULL").Count(&waiting)
		if waiting != 200 {
			t.Errorf("%d wait, want 200", waiting)
		}
	})
}

// TestResendCutOff makes every batch fail after it was written, twice, and
// loses and doubles nothing.
func TestResendCutOff(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 250)
		b.step()
		order, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start})
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			if _, err := b.resends.Step(gone); err == nil {
				t.Error("a batch without a database went well")
			}
		}
		b.work()
		b.clock.Advance(time.Minute)
		b.work()
		order, err = b.resends.Find(t.Context(), owner, order.ID)
		if err != nil || order.Made != 250 || order.Delivered != 250 || len(shop.requests()) != 500 {
			t.Errorf("%+v %v, %d requests", order, err, len(shop.requests()))
		}
	})
}

func TestResendRefuses(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		ask := func(sc scope.Scope, o delivery.Order) fault.Kind {
			_, err := b.resends.Create(ctx, sc, o)
			return fault.KindOf(err)
		}
		if got := ask(owner, delivery.Order{From: start}); got != fault.Conflict {
			t.Error("without any webhook:", got)
		}
		e, _ := b.create(owner, "https://example.com/")
		early, late := start.Add(-61*24*time.Hour), start.Add(time.Hour)
		for name, o := range map[string]delivery.Order{
			"no time": {}, "too early": {From: early}, "later": {From: late}, "backwards": {From: start, Before: &early}, "empty": {From: start, Before: &start},
			"no type": {From: start, Types: []string{"payment.paid"}}, "twice": {From: start, Types: []string{webhook.PaymentFailed, webhook.PaymentFailed}},
		} {
			if got := ask(owner, o); got != fault.Invalid {
				t.Errorf("%s: %v", name, got)
			}
		}
		foreign := scope.Scope{BusinessID: 2, Domain: scope.Test, Role: scope.Owner}
		b.create(foreign, "https://example.com/")
		if got := ask(foreign, delivery.Order{From: start, EndpointID: e.ID}); got != fault.NotFound {
			t.Error("another's webhook:", got)
		}
		if got := ask(scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Developer}, delivery.Order{From: start}); got != fault.Forbidden {
			t.Error("a developer in live:", got)
		}
		order, err := b.resends.Create(ctx, owner, delivery.Order{From: start})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.resends.Find(ctx, foreign, order.ID); fault.KindOf(err) != fault.NotFound {
			t.Error("another's resend:", err)
		}
		if list, _, err := b.resends.List(ctx, foreign, "", 0); err != nil || len(list) != 0 {
			t.Errorf(`b.resends.List(ctx, foreign, "", 0): list = %v, err = %v`, list, err)
		}
		for range delivery.MaxResends - 1 {
			if _, err := b.resends.Create(ctx, owner, delivery.Order{From: start}); err != nil {
				t.Fatal(err)
			}
		}
		if got := ask(owner, delivery.Order{From: start}); got != fault.Conflict {
			t.Error("one too many:", got)
		}
		b.toggle(e.ID, false)
		if got := ask(owner, delivery.Order{From: start, EndpointID: e.ID}); got != fault.Conflict {
			t.Error("an inactive webhook:", got)
		}
	})
}

// TestResendsAtOnce: many orders at the same moment don't pass the limit together.
func TestResendsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		if err := b.DB.Exec(t.Context()).Create(&models.Business{ID: 1, Name: "Ada's Shop", CreatedAt: start, UpdatedAt: start}).Error; err != nil {
			t.Fatal(err)
		}
		b.create(owner, "https://example.com/")
		var all sync.WaitGroup
		for range 4 * delivery.MaxResends {
			all.Go(func() {
				if _, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start}); err != nil && fault.KindOf(err) != fault.Conflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if list, _, err := b.resends.List(t.Context(), owner, "", 100); err != nil || len(list) != delivery.MaxResends {
			t.Errorf("%d orders, %v", len(list), err)
		}
	})
}

// queueAll lets orders go on until one has queued all that it is to, and delivers nothing.
func (b *bundle) queueAll(id string) {
	b.t.Helper()
	for range 20 {
		if _, err := b.resends.Step(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		if o, err := b.resends.Find(b.t.Context(), owner, id); err != nil {
			b.t.Fatal(err)
		} else if o.State != delivery.ResendQueueing {
			return
		}
		b.clock.Advance(100 * time.Millisecond)
	}
	b.t.Fatal("an order is not queued")
}

// TestResendFailed sends at once what failed and waits for its next attempt,
// leaves what is on its way to whoever queued it, and says what a later order
// took from an earlier one.
func TestResendFailed(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx, up := t.Context(), atomic.Bool{}
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			if !up.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		e, _ := b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 6)
		b.step()
		b.clock.Advance(time.Minute)
		b.step()                            // the second failures: the next attempt is in 5 minutes
		b.typed(webhook.PaymentDeclined, 4) // on their way
		order := delivery.Order{EndpointID: e.ID, From: start, Failed: true}
		if p, err := b.resends.Plan(ctx, owner, order); err != nil || p.Events != 10 || p.Deliveries != 6 {
			t.Errorf("planned %+v %v", p, err)
		}
		first, err := b.resends.Create(ctx, owner, order)
		if err != nil {
			t.Fatal(err)
		}
		b.work() // all ten fail once more
		second, err := b.resends.Create(ctx, owner, order)
		if err != nil {
			t.Fatal(err)
		}
		b.queueAll(second.ID)
		third, err := b.resends.Create(ctx, owner, delivery.Order{From: start}) // all are on their way again: nothing to take over
		if err != nil {
			t.Fatal(err)
		}
		b.queueAll(third.ID)
		up.Store(true)
		for range 3 { // an order is looked at every 5 s
			b.clock.Advance(6 * time.Second)
			b.work()
		}
		for name, want := range map[string]struct{ id, counts string }{
			"first": {first.ID, "done 6 0 6"}, "second": {second.ID, "done 10 10 0"}, "third": {third.ID, "done 0 0 0"},
		} {
			o, err := b.resends.Find(ctx, owner, want.id)
			if got := fmt.Sprint(o.State, " ", o.Made, " ", o.Delivered, " ", o.Superseded); got != want.counts || err != nil {
				t.Errorf("%s: %s, want %s, %v", name, got, want.counts, err)
			}
		}
		if list := b.history(e.ID, webhook.Delivered, 100); len(list) != 10 {
			t.Errorf("%d delivered", len(list))
		}
	})
}

// TestResendStops ends when its webhook is switched off on the way.
func TestResendStops(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 300)
		b.step()
		order, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start, EndpointID: e.ID})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.resends.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.toggle(e.ID, false)
		b.work()
		b.clock.Advance(time.Minute)
		b.work()
		order, err = b.resends.Find(t.Context(), owner, order.ID)
		if err != nil || order.State != delivery.ResendStopped || order.Made != 200 || order.Failures != 200 {
			t.Error(fmt.Sprintf("%+v", order), err)
		}
	})
}
