package models

import (
	"context"
	"fmt"
	"time"
)

// skippedFact is the fact behind Skipped.
const skippedFact = "skipped_addresses"

// skippedPeriod is for how long skipped addresses are counted and shown.
const skippedPeriod = 7 * 24 * time.Hour

// Skipped is how many addresses were left out in the last seven days because the database
// didn't know that they had been given out. Its zero value is none.
type Skipped struct {
	Addresses int64
	Last      time.Time
}

// Skipped returns the count at a time.
func (d *DB) Skipped(ctx context.Context, at time.Time) (Skipped, error) {
	return readSkipped(d.Read(ctx), at)
}

func readSkipped(tx *Tx, at time.Time) (s Skipped, err error) {
	var rows []Instance
	if err := tx.Where("name = ?", skippedFact).Find(&rows).Error; err != nil || len(rows) == 0 {
		return s, err
	}
	var last int64
	if _, err := fmt.Sscan(rows[0].Value, &last, &s.Addresses); err != nil {
		return s, err
	}
	if s.Last = time.Unix(last, 0).UTC(); at.Sub(s.Last) > skippedPeriod {
		return Skipped{}, nil
	}
	return s, nil
}

// NoteSkipped adds skipped addresses to the count of Skipped.
func NoteSkipped(tx *Tx, at time.Time, addresses int64) error {
	before, err := readSkipped(tx, at)
	if err != nil {
		return err
	}
	return tx.Save(&Instance{Name: skippedFact, Value: fmt.Sprint(at.Unix(), before.Addresses+addresses)}).Error
}
