package models

import (
	"context"
	"fmt"
)

// restored is the fact behind Restored.
const restored = "restored"

// Restored is what is known of a database's last restore from a backup. Its zero value is
// a database that never was restored.
type Restored struct {
	// Sequence is what numbers of events go on from, for payments that it had then. It is
	// the second of the restore, so that it is beyond those of every other life that the
	// same backup began.
	Sequence int
	Last     int64 // the id of the last payment that it had
}

// perRestore is by how much an earlier release's numbers went on for each restore.
const perRestore = 1_000_000

// Restored tells whether this database was restored.
func (d *DB) Restored(ctx context.Context) (Restored, error) { return wasRestored(d.Read(ctx)) }

func wasRestored(tx *Tx) (r Restored, err error) {
	var rows []Instance
	if err := tx.Where("name = ?", restored).Find(&rows).Error; err != nil || len(rows) == 0 {
		return r, err
	}
	_, err = fmt.Sscan(rows[0].Value, &r.Sequence, &r.Last)
	if r.Sequence < perRestore { // how often it was restored, as an earlier release noted it
		r.Sequence *= perRestore
	}
	return r, err
}

// restoredNow notes that the database was restored now.
func restoredNow(tx *Tx) error {
	r, err := wasRestored(tx)
	if err != nil {
		return err
	}
	if err := tx.Model(&Payment{}).Select("COALESCE(MAX(id), 0)").Scan(&r.Last).Error; err != nil {
		return err
	}
	r.Sequence = max(r.Sequence+1, int(tx.NowFunc().Unix()))
	return tx.Save(&Instance{Name: restored, Value: fmt.Sprint(r.Sequence, r.Last)}).Error
}
