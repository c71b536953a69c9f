package lease_test

import (
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/lease"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestTakeOver: one holder at a time; a lease that ran out passes on with a higher fence, and back again.
func TestTakeOver(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		first, second := lease.New(db, now.Now), lease.New(db, now.Now)
		take := func(l *lease.Leases, wantHeld bool, wantFence int64) {
			t.Helper()
			got, err := l.Take(t.Context(), "follow bitcoin", 6*time.Second)
			if err != nil || got.Held != wantHeld || got.Fence != wantFence {
				t.Fatalf("%+v, %v; want %v %d", got, err, wantHeld, wantFence)
			}
			if left := got.Until.Sub(now.Now()); wantHeld && left != 6*time.Second || left <= 0 || left > 6*time.Second {
				t.Errorf("it ends in %s", left)
			}
		}
		take(first, true, 1)
		take(second, false, 0)
		now.Advance(5 * time.Second)
		take(first, true, 1) // renewed
		now.Advance(5 * time.Second)
		take(second, false, 0)
		now.Advance(2 * time.Second)
		take(second, true, 2)
		take(first, false, 0)
		if err := second.Release(t.Context(), "follow bitcoin"); err != nil {
			t.Fatal(err)
		}
		take(first, true, 3)
	})
}

// TestWait: whoever is refused asks again when the other's lease ends.
func TestWait(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		lease lease.Lease
		want  time.Duration
	}{
		"held":             {lease.Lease{Held: true, Until: now.Add(lease.Hold)}, 2 * time.Second},
		"ends soon":        {lease.Lease{Until: now.Add(700 * time.Millisecond)}, 700 * time.Millisecond},
		"ends late":        {lease.Lease{Until: now.Add(5 * time.Second)}, 2 * time.Second},
		"has just ended":   {lease.Lease{Until: now.Add(-time.Second)}, 50 * time.Millisecond},
		"nothing is known": {lease.Lease{}, 2 * time.Second},
	} {
		if got := c.lease.Wait(now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
