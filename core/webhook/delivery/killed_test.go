package delivery_test

import (
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/internal/testing/speed"
	"cointill/models"
)

var errKilled = errors.New("the process is dead")

// process is one that can be killed: each of its statements fails from then on. What it
// had begun is rolled back, what it had committed stays.
type process struct {
	dead     atomic.Bool
	claiming atomic.Bool // its next claim of deliveries is the last that it does
}

// live lets a process have a database.
func live(t *testing.T, db *models.DB) *process {
	t.Helper()
	p := &process{}
	refuse := func(tx *gorm.DB) {
		if p.dead.Load() {
			_ = tx.AddError(errKilled)
		}
	}
	claimed := func(tx *gorm.DB) {
		if strings.Contains(tx.Statement.SQL.String(), "attempt = attempt + 1") && p.claiming.CompareAndSwap(true, false) {
			p.dead.Store(true)
		}
	}
	for i, one := range []*gorm.DB{db.Exec(t.Context()), db.Read(t.Context())} {
		if i == 1 && db.Postgres() {
			break // the same as the first
		}
		c := one.Callback()
		if err := errors.Join(c.Create().Before("*").Register("kill:create", refuse), c.Update().Before("*").Register("kill:update", refuse),
			c.Delete().Before("*").Register("kill:delete", refuse), c.Query().Before("*").Register("kill:query", refuse),
			c.Query().After("*").Register("kill:claimed", claimed), c.Raw().Before("*").Register("kill:raw", refuse)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

var kills = flag.Int("kills", speed.Pick(5, 25), "how often TestKilled kills at each of its two points")

// TestKilled (WH-10) kills the process 25 times, or as often as -kills says, between the
// commit and the request, and as often between the request and its record, each time with
// 20 deliveries under way: each change that was committed, and no other, is an event; that
// comes at least once, and what comes twice is the same to the last byte.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		const endpoints = 20
		p := live(t, b.DB)
		shop := newMerchant(t, nil)
		for range endpoints {
			b.create(owner, shop.URL)
		}
		restart := func() { b.worker = b.sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler)}) }
		committed := map[string]bool{}
		for round := range 2 * *kills {
			undone := errors.New("the change was undone")
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
				return errors.Join(b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Test, Type: webhook.PaymentSuccessful, At: b.clock.Now()}), undone)
			}); !errors.Is(err, undone) {
				t.Fatal(err)
			}
			committed[b.emit(round+1)] = true
			asked, before := len(shop.requests()), round%2 == 0
			if p.claiming.Store(before); !before {
				shop.answer(func(w http.ResponseWriter, _ *http.Request) {
					p.dead.Store(true)
					w.WriteHeader(http.StatusNoContent)
				})
			}
			_, _ = b.worker.Step(t.Context())
			heard := len(shop.requests()) - asked
			if !p.dead.Load() || before != (heard == 0) {
				t.Fatalf("round %d: dead %v, after %d requests", round, p.dead.Load(), heard)
			}
			p.dead.Store(false)
			shop.answer(nil)
			restart()
			b.clock.Advance(10 * time.Minute) // all that it had claimed is free again
			for b.step() > 0 {
			}
			if again := len(shop.requests()) - asked - heard; again != endpoints {
				t.Fatalf("round %d: %d of %d deliveries came again", round, again, endpoints)
			}
		}
		bodies, counts := map[string]string{}, map[string]int{}
		for _, r := range shop.requests() {
			id := r.header.Get("webhook-id")
			if !committed[id] {
				t.Fatalf("%s is of no change: %s", id, r.body)
			}
			if first, again := bodies[id]; again && first != r.body {
				t.Errorf("%s came as\n%s and\n%s", id, first, r.body)
			}
			bodies[id] = r.body
			counts[id]++
		}
		for id := range committed {
			if counts[id] < endpoints {
				t.Errorf("%s came to %d of %d", id, counts[id], endpoints)
			}
		}
		var done int64
		if err := b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("outcome = 'delivered'").Count(&done).Error; err != nil || done != int64(2*endpoints**kills) {
			t.Errorf("%d of %d are delivered: %v", done, 2*endpoints**kills, err)
		}
	})
}
