package models_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestFirstUseBesideTheWriter: statements that are used for the first time
// outside a transaction, while others hold SQLite's only writer, must not hang.
func TestFirstUseBesideTheWriter(t *testing.T) {
	t.Parallel()
	db := modelstest.OpenEmpty(t, false, clock.NewFake(time.Unix(1, 0)).Now)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for i := range 200 {
			for range 4 {
				all.Go(func() {
					if err := db.Exec(t.Context()).Exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS a%d (x)", i)).Error; err != nil {
						t.Error(err)
					}
				})
			}
			all.Go(func() {
				err := db.Write(t.Context(), func(tx *models.Tx) error {
					return tx.Exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS b%d (x)", i)).Error
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
	}
}
