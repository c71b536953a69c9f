package observe

import (
	"slices"

	"cointill/models"
)

// deleteUnreachable deletes the rows that no reorg can reach any more: blocks, and the spend
// keys of transfers that are final or finally replaced.
func (a *batchApplier) deleteUnreachable() error {
	if len(a.batch.Blocks) == 0 {
		return nil
	}
	kept := a.batch.Network.KeptBlocks()
	from, to := a.batch.Blocks[0].Height-1-kept, a.tip.Height-kept
	if err := a.tx.Where("network = ? AND height < ?", a.network, to).Delete(&models.ChainBlock{}).Error; err != nil {
		return err
	}
	for _, column := range []string{"height", "conflict_height"} {
		// By a subquery each, as one transaction may have thousands of outputs to us.
		old := func() *models.Tx {
			return a.tx.Model(&models.Spend{}).Where("transfer_id IN (?)",
				a.tx.Model(&models.Transfer{}).Select("id").Where("network = ? AND "+column+" > ? AND "+column+" <= ?",
					a.network, from, to))
		}
		var keys []string
		if err := old().Distinct().Pluck("spend_key", &keys).Error; err != nil {
			return err
		}
		if len(keys) == 0 {
			continue
		}
		if err := old().Delete(&models.Spend{}).Error; err != nil {
			return err
		}
		var needed []string // by others that still wait
		if err := models.Among(a.tx.Model(&models.Spend{}).Where("network = ?", a.network), "spend_key", keys).
			Distinct().Pluck("spend_key", &needed).Error; err != nil {
			return err
		}
		a.forgotten = append(a.forgotten,
			slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(needed, key) })...)
	}
	return nil
}
