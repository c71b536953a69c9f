package delivery_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"testing"
	"time"

	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// late compares for how long deliveries have waited for a worker.
func (b *bundle) late(what string, want map[scope.Domain]time.Duration) {
	b.t.Helper()
	found, err := delivery.Late(b.t.Context(), b.DB, b.clock.Now())
	if err == nil {
		maps.DeleteFunc(found, func(_ scope.Domain, late time.Duration) bool { return late == 0 })
	}
	if err != nil || !maps.Equal(found, want) {
		b.t.Errorf("%s: %v, %v; want %v", what, found, err, want)
	}
}

// tell commits an event for every endpoint of a scope.
func (b *bundle) tell(sc scope.Scope) {
	b.t.Helper()
	if err := b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
		return b.Emit(tx, webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: webhook.PaymentSuccessful, At: b.clock.Now()})
	}); err != nil {
		b.t.Fatal(err)
	}
}

// TestLate: deliveries are late while no worker makes them. Those that wait for the
// answers of an endpoint that hangs are not, nor those that wait as so many hang on
// their host; once a process is gone with its attempts, all are again.
func TestLate(t *testing.T) {
	for name, hanging := range map[string]int{"one endpoint": 1, "one host": 30} { // the latter more than may be on their way to it
		t.Run(name, func(t *testing.T) { each(t, func(t *testing.T, b *bundle) { lateBehind(t, b, hanging) }) })
	}
}

func lateBehind(t *testing.T, b *bundle, hanging int) {
	none := map[scope.Domain]time.Duration{}
	const events = 3
	release := make(chan struct{})
	shop := newMerchant(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	b.sender.Clients[scope.Test].Timeout = time.Hour // nothing hangs for less than the test
	for range hanging {
		b.create(owner, shop.URL)
	}
	merchant := owner
	merchant.Domain = scope.Live
	gone, _ := b.create(merchant, "https://shop.example/")
	b.late("nothing waits", none)
	for range events {
		b.tell(owner)
	}
	b.clock.Advance(3 * time.Minute)
	b.tell(merchant)
	b.clock.Advance(2 * time.Minute)
	putOff := b.DB.Exec(t.Context()).Exec("UPDATE deliveries SET due_at = ? WHERE domain = 'test' AND id IN (SELECT max(id) FROM deliveries GROUP BY endpoint_id)", b.clock.Now().Add(20*time.Second))
	if putOff.Error != nil {
		t.Fatalf("putOff.Error = %v", putOff.Error)
	}
	b.late("nobody works", map[scope.Domain]time.Duration{scope.Test: 5 * time.Minute, scope.Live: 2 * time.Minute})
	if err := b.Delete(t.Context(), merchant, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.late("one is gone", map[scope.Domain]time.Duration{scope.Test: 5 * time.Minute})

	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	worker := b.sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler), Poll: 10 * time.Millisecond, Grace: time.Millisecond})
	go func() { ran <- worker.Run(ctx) }()
	await(t, "all that may hang", func() bool {
		var open, held int64
		err := b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("done_at IS NULL").Count(&open).Error
		if err == nil {
			err = b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("done_at IS NULL AND claimed_at IS NOT NULL").Count(&held).Error
		}
		return err == nil && open == int64(hanging*events) && held == int64(min(hanging, 24))
	})
	b.clock.Advance(30 * time.Second)
	b.late("they wait for their turn", none)
	b.clock.Advance(11 * time.Second)
	b.late("the attempts are over, whoever made them", map[scope.Domain]time.Duration{scope.Test: 5*time.Minute + 41*time.Second})
	stop()
	close(release)
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
