package models_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestAfterCommit: a call waits for the commit, is made once, and never for what was rolled back.
func TestAfterCommit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		calls, inside := 0, -1
		note := func(fails error) func(tx *models.Tx) error {
			return func(tx *models.Tx) error {
				models.AfterCommit(tx, func() {
					calls++
					ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
					defer stop()
					if err := db.Exec(ctx).Exec("SELECT 1").Error; err != nil { // the writer is free
						t.Error(err)
					}
				})
				inside = calls
				return fails
			}
		}
		refused := errors.New("refused")
		if err := db.Write(t.Context(), note(refused)); !errors.Is(err, refused) || calls != 0 {
			t.Fatal(calls, err)
		}
		if err := db.Write(t.Context(), note(nil)); err != nil || inside != 0 || calls != 1 {
			t.Fatal(inside, calls, err)
		}
		if models.AfterCommit(db.Exec(t.Context()), func() { calls++ }); calls != 2 {
			t.Error("outside a transaction nothing is called")
		}
	})
}
