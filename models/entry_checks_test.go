package models_test

import (
	"slices"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/models/modelstest"
)

// TestEntryChecksMakeNoTable checks that SQLite inserts an entry without a table in memory for the accounts
// that an entry may have.
func TestEntryChecksMakeNoTable(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(time.Unix(1, 0)).Now)
	var steps []struct{ Opcode string }
	if err := db.Read(t.Context()).Raw("EXPLAIN INSERT INTO journal_entries (business_id, domain, booked_on, happened_on, " +
		"kind, debit, credit, coin, network, amount, currency, value, due, created_at) VALUES " +
		"(1, 'live', '2026-01-01', '2026-01-01', 'received', 'wallet', 'pending', 'BTC', 'bitcoin', '1', 'NGN', 1, 0, '')").
		Scan(&steps).Error; err != nil {
		t.Fatal(err)
	}
	var opcodes []string
	for _, s := range steps {
		opcodes = append(opcodes, s.Opcode)
	}
	if !slices.Contains(opcodes, "Insert") || slices.Contains(opcodes, "OpenEphemeral") {
		t.Errorf("an entry is inserted by %v, want Insert and no OpenEphemeral", opcodes)
	}
}
