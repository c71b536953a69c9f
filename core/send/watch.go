package send

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"cointill/models"
)

// watchAddress has a network's follower look for an address.
func watchAddress(tx *models.Tx, network, address string, now time.Time) error {
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

// SandboxAccount names the sandbox wallet of a business: what it sends spends keys that begin with
// this name.
func SandboxAccount(businessID int64, domain string) string {
	return fmt.Sprintf("sandbox-wallet-%d-%s", businessID, domain)
}

// orderID returns the number that identifies a send.
func orderID(row models.Send) [32]byte { return sha256.Sum256([]byte(row.Reference)) }

// MarkDue has sends evaluated again.
func MarkDue(tx *models.Tx, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	return models.Among(tx.Model(&models.Send{}), "id", ids).UpdateColumn("due_at", now).Error
}
