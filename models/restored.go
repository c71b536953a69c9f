package models

import (
	"context"
	"fmt"
)

// restored is the fact behind Restored.
const restored = "restored"

// Restored is how often a database was restored from a backup, and the id of the last
// payment that it had when it was. Its zero value is a database that never was.
type Restored struct {
	Times int
	Last  int64
}

// Restored tells whether this database was restored.
func (d *DB) Restored(ctx context.Context) (Restored, error) { return wasRestored(d.Read(ctx)) }

func wasRestored(tx *Tx) (r Restored, err error) {
	var rows []Instance
	if err := tx.Where("name = ?", restored).Find(&rows).Error; err != nil || len(rows) == 0 {
		return r, err
	}
	_, err = fmt.Sscan(rows[0].Value, &r.Times, &r.Last)
	return r, err
}

// restoredOnceMore notes that the database was restored now.
func restoredOnceMore(tx *Tx) error {
	r, err := wasRestored(tx)
	if err != nil {
		return err
	}
	if err := tx.Model(&Payment{}).Select("COALESCE(MAX(id), 0)").Scan(&r.Last).Error; err != nil {
		return err
	}
	return tx.Save(&Instance{Name: restored, Value: fmt.Sprint(r.Times+1, r.Last)}).Error
}
