package journal_test

import (
	"testing"

	"cointill/core/journal"
	"cointill/models"
	"cointill/models/modelstest"
)

// holdWrite runs a transaction, has act begin beside it, and commits when act waits for a lock.
func holdWrite(t *testing.T, db *models.DB, write func(tx *models.Tx) error, act func() error) {
	t.Helper()
	written, release, committed, done := make(chan struct{}), make(chan struct{}), make(chan error), make(chan error)
	go func() {
		committed <- db.Write(t.Context(), func(tx *models.Tx) error {
			if err := write(tx); err != nil {
				return err
			}
			close(written)
			<-release
			return nil
		})
	}()
	select {
	case <-written:
	case err := <-committed:
		t.Fatalf("the transaction ended at once: %v", err)
	}
	go func() { done <- act() }()
	modelstest.AwaitLock(t, db)
	close(release)
	if err := <-committed; err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestClosingWaitsForPostings checks that a month is closed with the entries of transactions that are open
// then. On SQLite transactions write one after the other.
func TestClosingWaitsForPostings(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return
		}
		books := reader(t, db, noon.AddDate(0, 0, 1))
		row := received(t, db, "open")
		post := func(tx *models.Tx) error {
			return journal.MoveTransfers(tx, noon, []journal.Move{{Transfer: &row, To: journal.Pending, At: noon, Zone: "UTC"}})
		}
		var closed models.ClosedMonth
		holdWrite(t, db, post, func() (err error) {
			closed, err = books.CloseMonth(t.Context(), finance, "2026-03")
			return err
		})
		if want := hashOf(t, db); closed.Hash != want || len(entries(t, db)) != 1 {
			t.Errorf("the hash is %s, want %s, of one entry", closed.Hash, want)
		}
	})
}

// TestPostingsWaitForClosing checks that a transaction that posts while a month is closed posts on the first
// open day.
func TestPostingsWaitForClosing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return
		}
		reader(t, db, noon)
		row := received(t, db, "late")
		holdWrite(t, db, func(tx *models.Tx) error {
			month := models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-03", Hash: "h", Actor: "user:1", CreatedAt: noon}
			if err := tx.Exec("SELECT pg_advisory_xact_lock(1785, 1)").Error; err != nil {
				return err
			}
			return tx.Create(&month).Error
		}, func() error { return move(t, db, row, journal.Pending, noon, "UTC") })
		var booked []string
		err := db.Read(t.Context()).Model(&models.JournalEntry{}).Pluck("booked_on", &booked).Error
		if err != nil || len(booked) != 1 || booked[0] != "2026-04-01" {
			t.Errorf("booked on %v (%v), want the first of April, once", booked, err)
		}
	})
}
