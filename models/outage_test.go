package models_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/models"
	"cointill/models/modelstest"
)

// reason is why an error says that the database can't be used.
func reason(err error) string {
	var outage *models.Outage
	if errors.As(err, &outage) {
		return outage.Reason
	}
	return ""
}

// TestDiskFull: what a full disk refuses says so, and so does Ping, until it was
// long enough ago that the next change may go well.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(1, 0))
	db := modelstest.OpenEmpty(t, false, now.Now)
	for _, statement := range []string{"CREATE TABLE a (x)", "PRAGMA max_page_count = 1"} { // no page more than there are
		if err := db.Exec(t.Context()).Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	const full = "The database's disk is full."
	insert := func(tx *models.Tx) error { return tx.Exec("INSERT INTO a VALUES (zeroblob(100000))").Error }
	if err := db.Write(t.Context(), insert); reason(err) != full {
		t.Errorf("the change: %v", err)
	}
	if err := db.Ping(t.Context()); reason(err) != full {
		t.Errorf("a moment later: %v", err)
	}
	now.Advance(5 * time.Second)
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("long after: %v", err)
	}
}

// TestOutages: what PostgreSQL says while it can't be used is an Outage with its
// reason; other refusals, and what the caller called off, are none.
func TestOutages(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // TestDiskFull
		}
		for code, want := range map[string]string{
			"53100": "The database's disk is full.", "25006": "The database takes no changes now.", "57P03": "The database is starting or stopping.",
			"53300": "The database takes no more connections.", "08006": "The database can't be reached.", "23514": "", "P0001": "",
		} {
			err := db.Exec(t.Context()).Exec(fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '%s'; END $$", code)).Error
			if err == nil || reason(err) != want {
				t.Errorf("%s: %v", code, err)
			}
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Exec("SELECT pg_terminate_backend(pg_backend_pid())").Error })
		if reason(err) == "" {
			t.Errorf("a connection that was ended: %v", err)
		}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			var done bool
			return models.ScanRows(tx.Raw("SELECT pg_terminate_backend(pg_backend_pid())"), func() {}, &done)
		})
		if reason(err) == "" {
			t.Errorf("a row of a connection that was ended: %v", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := db.Exec(ended).Exec("SELECT 1").Error; err == nil || reason(err) != "" {
			t.Errorf("called off: %v", err)
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { tx.AddError(driver.ErrBadConn); return tx.Error }); reason(err) == "" {
			t.Errorf("a bad connection: %v", err)
		}
	})
}

// TestHaltedTransaction: a transaction that nothing is heard of is given up, with
// its locks, in less time than a lease lasts; a setting in the address is heeded.
func TestHaltedTransaction(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // its lock is the process's own
		}
		limit := func(db *models.DB) (set string) {
			if err := db.Read(t.Context()).Raw("SHOW idle_in_transaction_session_timeout").Find(&set).Error; err != nil {
				t.Error(err)
			}
			return set
		}
		if set := limit(db); set != "5s" {
			t.Errorf("it is given up after %s", set)
		}
		address, err := url.Parse(modelstest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		query := address.Query()
		query.Set("idle_in_transaction_session_timeout", "50ms")
		address.RawQuery = query.Encode()
		brisk, err := models.Open(address.String(), "", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = brisk.Close() }()
		if set := limit(brisk); set != "50ms" {
			t.Errorf("of the address: %s", set)
		}
		err = brisk.Write(t.Context(), func(tx *models.Tx) error {
			var self int
			if err := tx.Raw("SELECT pg_backend_pid()").Find(&self).Error; err != nil {
				return err
			}
			for there := int64(1); there > 0; { // nothing is heard of the transaction meanwhile
				if err := db.Read(t.Context()).Table("pg_stat_activity").Where("pid = ?", self).Count(&there).Error; err != nil {
					return err
				}
			}
			return tx.Exec("SELECT 1").Error
		})
		if reason(err) == "" {
			t.Errorf("given up: %v", err)
		}
	})
}

// TestChangedTable: when another release adds a column, a transaction that reads the
// table is made again, and so is any other read.
func TestChangedTable(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		var rows []models.Business
		read := func(tx *models.Tx) error { return tx.Find(&rows).Error }
		add := func(column string) {
			t.Helper()
			if err := db.Exec(t.Context()).Exec("ALTER TABLE businesses ADD COLUMN " + column + " text").Error; err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Write(t.Context(), read); err != nil {
			t.Fatal(err)
		}
		add("one")
		if err := db.Write(t.Context(), read); err != nil {
			t.Error(err)
		}
		add("two")
		if err := read(db.Read(t.Context())); err != nil {
			t.Errorf("a read after a column was added: %v, want no error", err)
		}
		scan := func() error {
			return models.ScanRows(db.Read(t.Context()).Raw("SELECT * FROM businesses"), func() {})
		}
		if err := scan(); err != nil {
			t.Fatal(err)
		}
		add("three")
		if err := scan(); err != nil {
			t.Errorf("rows after a column was added: %v, want no error", err)
		}
	})
}
