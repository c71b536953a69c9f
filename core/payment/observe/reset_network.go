package observe

import (
	"context"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/departure"
	"cointill/models"
)

// ResetNetwork deletes the position of a network, so that its follower starts again near the
// network's end. It is for a test network that its operators reset: no history of a node leads
// there. Blocks in between are not searched. Credited money stays. Transfers of open payments and
// unmatched transfers are gone with the old blocks, because new blocks reach the same heights. The
// caller makes sure that it is a test network. known is false when nothing was read of it yet.
func (o *Observer) ResetNetwork(ctx context.Context, network chain.Network) (known bool, err error) {
	err = o.DB.Write(ctx, func(tx *models.Tx) error {
		now := o.Clock()
		// The fence stays: a process that lost the lease must not write.
		set := map[string]any{"height": 0, "hash": "", "finalized": -1, "source_tip": 0, "problem": "",
			"updated_at": now}
		cursor := tx.Model(&models.ChainCursor{}).Where("network = ? AND hash <> ''", string(network)).Updates(set)
		if known = cursor.RowsAffected > 0; cursor.Error != nil {
			return cursor.Error
		}
		for _, rows := range []any{&models.ChainBlock{}, &models.Holding{}, &models.Spend{}} {
			if err := tx.Where("network = ?", string(network)).Delete(rows).Error; err != nil {
				return err
			}
		}
		return forgetHeights(tx, now, string(network))
	})
	return known, err
}

// forgetHeights detaches transfers from a network's old blocks. Transfers of ended payments, and
// refunded ones, stay without their block hash, and no reorganisation concerns them. All others are
// gone.
func forgetHeights(tx *models.Tx, now time.Time, network string) error {
	open := tx.Model(&models.Payment{}).Select("id").Where("(network = ? OR id IN (?)) AND status IN ?", network,
		tx.Model(&models.PaymentNetwork{}).Select("payment_id").Where("network = ?", network),
		[]payment.State{payment.Initiated, payment.Processing, payment.Abandoned}).Session(&gorm.Session{})
	of := func() *models.Tx { return tx.Model(&models.Transfer{}).Where("network = ?", network) }
	reason := gorm.Expr("CASE WHEN height IS NULL THEN ? ELSE ? END", string(payment.Dropped), string(payment.Reorged))
	gone := map[string]any{"height": nil, "block_hash": "", "gone": true, "gone_reason": reason, "gone_at": now,
		"updated_at": now}
	err := of().Where("NOT gone AND (unmatched = '' AND payment_id IN (?) OR unmatched <> '' AND resolution = '')",
		open).Updates(gone).Error
	if err != nil {
		return err
	}
	detached := map[string]any{"block_hash": "", "conflict_tx": "", "conflict_height": nil, "updated_at": now}
	if err := of().Where("height IS NOT NULL OR conflict_height IS NOT NULL").Updates(detached).Error; err != nil {
		return err
	}
	if err := books.BookTransfers(tx, now, network); err != nil {
		return err
	}
	if err := departure.Detach(tx, network); err != nil {
		return err
	}
	if err := tx.Model(&models.PaymentNetwork{}).Where("network = ? AND due_height IS NOT NULL", network).
		Update("due_height", nil).Error; err != nil {
		return err
	}
	return tx.Model(&models.Payment{}).Where("id IN (?) OR network = ? AND due_height IS NOT NULL", open, network).
		Updates(map[string]any{"due_height": nil, "due_at": now}).Error
}
