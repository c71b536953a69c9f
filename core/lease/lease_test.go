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
			fence, held, err := l.Take(t.Context(), "follow bitcoin", 6*time.Second)
			if err != nil || held != wantHeld || held && fence != wantFence {
				t.Fatalf("held %v fence %d, %v; want %v %d", held, fence, err, wantHeld, wantFence)
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
