package observe

import (
	"context"

	"cointill/chain"
	"cointill/models"
)

// ResetNetwork deletes the position of a network, so that its follower starts again near the
// network's end. It is for a test network that its operators reset: no history of a node leads
// there. Blocks in between are not searched, and credited money stays. The caller makes sure
// that it is a test network. known is false when nothing was read of it yet.
func (o *Observer) ResetNetwork(ctx context.Context, network chain.Network) (known bool, err error) {
	err = o.DB.Write(ctx, func(tx *models.Tx) error {
		// The fence stays: a process that lost the lease must not write.
		set := map[string]any{"height": 0, "hash": "", "finalized": -1, "source_tip": 0, "problem": "",
			"updated_at": o.Clock()}
		cursor := tx.Model(&models.ChainCursor{}).Where("network = ? AND hash <> ''", string(network)).Updates(set)
		if known = cursor.RowsAffected > 0; cursor.Error != nil {
			return cursor.Error
		}
		for _, rows := range []any{&models.ChainBlock{}, &models.Holding{}} {
			if err := tx.Where("network = ?", string(network)).Delete(rows).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return known, err
}
