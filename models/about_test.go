package models_test

import (
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestNow (T-4): the database tells the time of its machine, here this one, as it
// goes on: not that at which a transaction began.
func TestNow(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // SQLite has no clock but ours
		}
		before := time.Now().Add(-time.Minute)
		first, err := db.Now(t.Context())
		if err != nil || first.Before(before) || first.After(before.Add(time.Hour)) {
			t.Fatalf("first = %v, err = %v", first, err)
		}
		if next, err := db.Now(t.Context()); err != nil || !next.After(first) {
			t.Errorf("db.Now(t.Context()): next = %v, err = %v", next, err)
		}
	})
}
