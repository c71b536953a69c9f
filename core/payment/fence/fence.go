// Package fence lets only the holder of a lease write what it read of a network.
package fence

import (
	"context"
	"errors"
	"math"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/models"
)

// NoLease is the fence of work that needs no lease: a command of the operator's.
const NoLease = math.MaxInt64

// LockCursor locks a network's cursor for a transaction that writes under the lease with a
// fence. Once a later holder has written anything, or when nothing was written yet,
// that is refused with chain.ErrStale: a holder that was frozen may not know yet that
// it lost the lease.
func LockCursor(tx *models.Tx, network string, fence int64) (cursor models.ChainCursor, err error) {
	err = tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("network = ?", network).Take(&cursor).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound), fence < cursor.Fence:
		err = chain.ErrStale
	case err == nil && fence != NoLease && fence != cursor.Fence:
		err = tx.Model(&models.ChainCursor{}).Where("network = ?", network).UpdateColumn("fence", fence).Error
	}
	return cursor, err
}

// Write writes in a transaction under the lease with a fence.
func Write(ctx context.Context, db *models.DB, network chain.Network, fence int64,
	write func(tx *models.Tx) error) error {
	return db.Write(ctx, func(tx *models.Tx) error {
		if _, err := LockCursor(tx, string(network), fence); err != nil {
			return err
		}
		return write(tx)
	})
}
