package payment_test

import (
	"context"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
)

// replica is another process on the same database, on a machine whose clock is off.
func (b *bench) replica(off time.Duration) *payment.Service {
	b.t.Helper()
	own := func() time.Time { return b.clock.Now().Add(off) }
	shared := clock.NewShared(own, own, func(context.Context) (time.Time, error) { return b.clock.Now(), nil })
	if err := shared.Compare(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return &payment.Service{DB: b.db, Clock: shared.Now, Secrets: b.service.Secrets, Networks: b.service.Networks, Wallet: b.service.Wallet,
		Quotes: &quote.Service{DB: b.db, Clock: shared.Now, Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: shared.Now}}},
		Events: b.service.Events, Receipts: b.service.Receipts, PageBase: b.service.PageBase}
}

// TestReplicasClocks (T-4): of two replicas whose machines' clocks are ten minutes
// behind and ahead, either begins a payment and the other opens or sweeps it: each
// deadline is that of the database's clock, to the microsecond.
func TestReplicasClocks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		behind, ahead := b.replica(-10*time.Minute), b.replica(10*time.Minute)
		sweep := func() {
			t.Helper()
			for _, s := range []*payment.Service{behind, ahead} {
				if _, err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, pair := range [][2]*payment.Service{{behind, ahead}, {ahead, behind}} {
			began := b.clock.Now()
			var made [2]payment.Started
			for i := range made {
				var err error
				if made[i], err = pair[0].Initiate(t.Context(), b.scope, request()); err != nil {
					t.Fatal(err)
				}
				if !made[i].ExpiresAt.Equal(began.Add(payment.Window)) {
					t.Errorf("begun at %s, it ends at %s", began, made[i].ExpiresAt)
				}
			}
			unopened, opened := made[0].Reference, made[1].Reference
			b.clock.Advance(payment.Window)
			sweep()
			b.expect(unopened, payment.Pending, "")
			if _, err := pair[1].Open(t.Context(), made[1].AccessToken, "sw", ""); err != nil {
				t.Fatal(err)
			}
			b.clock.Advance(time.Microsecond)
			sweep()
			b.expect(unopened, payment.Expired, "")
			b.clock.Advance(payment.Monitoring - payment.Window - time.Microsecond)
			b.tick()
			b.expect(opened, payment.Initiated, "")
			b.clock.Advance(time.Microsecond)
			b.tick()
			b.expect(opened, payment.Abandoned, "")
		}
	})
}
