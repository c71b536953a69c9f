package models_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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

// TestFilesOfTheOwner: whoever may look into the data folder can't read the database
// or what stands beside it, also where an earlier release made them readable.
func TestFilesOfTheOwner(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"nothing", "readable files"} {
		db, err := models.Open("", dir, clock.NewFake(time.Unix(1, 0)).Now)
		if err == nil {
			err = db.Exec(t.Context()).Exec("CREATE TABLE IF NOT EXISTS a (x)").Error
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() }) // the files beside it stay meanwhile, as after a crash
		for _, name := range []string{"cointill.db", "cointill.db-wal", "cointill.db-shm"} {
			about, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if mode := about.Mode().Perm(); mode != 0o600 {
				t.Errorf("after %s: %s has mode %o", before, name, mode)
			}
			if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLogHoldsNoValues (AP-26): what a database refuses is logged without its values,
// and what was called off isn't logged at all.
func TestLogHoldsNoValues(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	db := modelstest.OpenEmpty(t, false, clock.NewFake(time.Unix(1, 0)).Now)
	slog.SetDefault(before)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := db.Exec(stopped).Exec("SELECT called_off").Error; err == nil {
		t.Error("a statement ran although its context had ended")
	}
	if err := db.Exec(t.Context()).Where("email = ?", "canary-value").Take(&models.User{}).Error; err == nil {
		t.Error("found a row without a table")
	}
	var emails []string // Scan has a logger of its own
	if err := db.Exec(t.Context()).Raw("SELECT email FROM users WHERE email = ?", "canary-value").Scan(&emails).Error; err == nil {
		t.Error("scanned a row without a table")
	}
	if text := log.String(); !strings.Contains(text, "users") || strings.Contains(text, "canary-value") || strings.Contains(text, "called_off") {
		t.Errorf("the log: %s", text)
	}
}
