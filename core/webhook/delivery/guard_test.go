package delivery_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// TestOpenOrders: orders that have queued everything count as long as they aren't done.
func TestOpenOrders(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.create(owner, "https://example.com/")
		for i := range 20 {
			queued := start
			row := models.Resend{ID: fmt.Sprint("rsd_", i), BusinessID: 1, Domain: "test", QueuedAt: &queued, CountedAt: start, CreatedAt: start}
			if err := b.DB.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("one more than 20: %v", err)
		}
		if err := b.DB.Exec(t.Context()).Model(&models.Resend{}).Where("id = 'rsd_7'").UpdateColumn("done_at", start).Error; err != nil {
			t.Fatal(err)
		}
		if _, err := b.resends.Create(t.Context(), owner, delivery.Order{From: start}); err != nil {
			t.Errorf("the twentieth: %v", err)
		}
	})
}

// TestGoneAmongFailures: a 410 switches off although failures of another kind are
// settled together with it, after it.
func TestGoneAmongFailures(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step() // quick, so that several are under way at once
		for n := range 4 {
			b.emit(n + 2)
		}
		var mu sync.Mutex
		came, all := 0, make(chan struct{})
		turns := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
		close(turns[0])
		shop.answer(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			n := came
			if came++; came == 4 {
				close(all)
			}
			mu.Unlock()
			<-all
			<-turns[n]
			defer close(turns[n+1])
			w.WriteHeader([]int{500, 410, 500, 500}[n])
		})
		b.step()
		if found, err := b.Find(t.Context(), owner, e.ID); err != nil || found.Active {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// TestLiveDemandsHTTPS also of an endpoint that came into the table by another way.
func TestLiveDemandsHTTPS(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		live := owner
		live.Domain = scope.Live
		e, _ := b.create(live, "https://example.com/")
		if err := b.DB.Exec(t.Context()).Model(&models.Endpoint{}).Where("id = ?", e.ID).UpdateColumn("url", shop.URL).Error; err != nil {
			t.Fatal(err)
		}
		err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
			return b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Live, Type: webhook.PaymentSuccessful, Data: "x"})
		})
		if err != nil {
			t.Fatal(err)
		}
		b.step()
		list, _, err := b.deliveries.History(t.Context(), live, e.ID, "", "", 0)
		if err != nil || len(list) != 1 || len(shop.requests()) != 0 {
			t.Fatalf("list = %v, err = %v, len(shop.requests()) = %v", list, err, len(shop.requests()))
		}
		mustContain(t, list[0].LastError, "not https")
	})
}

// TestDawdlingBody (WH-7): an answer whose body never ends costs its place for two
// seconds only. The client's own time is taken away, so that nothing else ends it.
func TestDawdlingBody(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.sender.Clients[scope.Test].Timeout = 0
		shop := newMerchant(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte("first "))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		if d := b.only(e.ID); d.State != webhook.Delivered || b.attempts(e.ID)[0].Answer != "first " {
			t.Errorf("%+v", d)
		}
	})
}

// TestNewAddressForgives: what the old address did says nothing of the new one.
func TestNewAddressForgives(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, status(500)).URL)
		b.emit(1)
		b.step()
		if found, err := b.Find(t.Context(), owner, e.ID); err != nil || found.FailingSince == nil {
			t.Fatalf("%+v %v", found, err)
		}
		other := newMerchant(t, nil).URL
		if found, err := b.Update(t.Context(), owner, e.ID, webhook.Change{URL: &other}); err != nil || found.FailingSince != nil {
			t.Errorf("%+v %v", found, err)
		}
	})
}
