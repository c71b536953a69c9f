package destination

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"cointill/models"
)

// WatchAddress has a network's follower look for an address.
func WatchAddress(tx *models.Tx, network, address string, now time.Time) error {
	return tx.Clauses(clause.OnConflict{DoNothing: true}).
		Create(&models.SendDestination{Network: network, Address: address, CreatedAt: now}).Error
}

// ListAddresses lists watched addresses of a network with a number above one, in their order.
func ListAddresses(ctx context.Context, db *models.DB, network string, after int64,
	limit int) (rows []models.SendDestination,
	err error) {
	err = db.Read(ctx).Where("network = ? AND id > ?", network, after).Order("id").Limit(limit).Find(&rows).Error
	return rows, err
}
