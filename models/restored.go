package models

import (
	"context"
	"fmt"
)

// restoredFact is the fact behind Restored.
const restoredFact = "restored"

// Restored describes a database's last restore from a backup. Its zero value is a database
// that never was restored.
type Restored struct {
	// Sequence is the number from which events continue, for payments of the backup. It is
	// the second of the restore, so that it is higher than the numbers that any other
	// restore of the same backup used.
	Sequence int
	Last     int64 // the id of the last payment that it had
}

// perRestore is by how much an earlier release's numbers went on for each restore.
const perRestore = 1_000_000

// Restored describes a database's last restore from a backup. Its zero value is a database
// that was never restored.
func (d *DB) Restored(ctx context.Context) (Restored, error) { return readRestored(d.Read(ctx)) }

func readRestored(tx *Tx) (r Restored, err error) {
	var rows []Instance
	if err := tx.Where("name = ?", restoredFact).Find(&rows).Error; err != nil || len(rows) == 0 {
		return r, err
	}
	_, err = fmt.Sscan(rows[0].Value, &r.Sequence, &r.Last)
	if r.Sequence < perRestore { // how often it was restored, as an earlier release noted it
		r.Sequence *= perRestore
	}
	return r, err
}

// markRestored notes that the database was restored now.
func markRestored(tx *Tx) error {
	r, err := readRestored(tx)
	if err != nil {
		return err
	}
	if err := tx.Model(&Payment{}).Select("COALESCE(MAX(id), 0)").Scan(&r.Last).Error; err != nil {
		return err
	}
	r.Sequence = max(r.Sequence+1, int(tx.NowFunc().Unix()))
	return tx.Save(&Instance{Name: restoredFact, Value: fmt.Sprint(r.Sequence, r.Last)}).Error
}
