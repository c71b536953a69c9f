package models_test

import (
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestRestoredAgain: events go on beyond those of any other life that the same backup
// began, however often either was made ready, as long as it began earlier.
func TestRestoredAgain(t *testing.T) {
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	life := func(made int) (r models.Restored) {
		t.Helper()
		db := modelstest.Open(t, false, now.Now)
		if never, err := db.Restored(t.Context()); err != nil || never != (models.Restored{}) {
			t.Fatalf("%+v %v", never, err)
		}
		for range made {
			if err := db.Continue(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
			before := r
			var err error
			if r, err = db.Restored(t.Context()); err != nil || r.Sequence <= before.Sequence {
				t.Fatalf("%+v after %+v: %v", r, before, err)
			}
		}
		return r
	}
	first := life(3)
	now.Advance(time.Minute)
	if second := life(1); second.Sequence <= first.Sequence+20 {
		t.Errorf("%d after %d", second.Sequence, first.Sequence)
	}
}

// TestRestoredByEarlier: what an earlier release noted was a count of restores.
func TestRestoredByEarlier(t *testing.T) {
	db := modelstest.Open(t, false, clock.Real())
	if err := db.Exec(t.Context()).Create(&models.Instance{Name: "restored", Value: "3 17"}).Error; err != nil {
		t.Fatal(err)
	}
	if r, err := db.Restored(t.Context()); err != nil || r != (models.Restored{Sequence: 3_000_000, Last: 17}) {
		t.Errorf("%+v %v", r, err)
	}
}
