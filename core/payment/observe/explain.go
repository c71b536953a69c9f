package observe

import (
	"cointill/chain"
	"cointill/core/payment"
	"cointill/models"
)

// UnknownVia is how money came of which only the balance tells.
const UnknownVia = "sent on by a contract, in a transaction that the node doesn't show"

// explainBalance gives money of which only a balance told the transaction that brought it,
// now that a block which is read once more shows it: told when that is all there is to
// store. What a person sent back stays sent back.
func (a *applying) explainBalance(t chain.Transfer, block *chain.Header) (told bool, err error) {
	var rows []models.Transfer
	err = a.tx.Where("network = ? AND unmatched = ? AND asset = ? AND height >= ? AND tx_id LIKE 'block %' AND payment_id IN (?)", a.network, payment.NoTransaction, t.Asset, block.Height,
		a.tx.Model(&models.Destination{}).Select("payment_id").Where("network = ? AND address = ? AND tag = -1", a.network, t.Address)).
		Order("height").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return false, err
	}
	// The one that fits it; else one that it is a part of; else one that is a part of
	// it, as the merchant took something away at the same time.
	row := rows[0]
	for _, one := range rows {
		if rest := one.Amount.Cmp(t.Amount); rest == 0 || rest > 0 && row.Amount.Cmp(t.Amount) < 0 {
			row = one
			if rest == 0 {
				break
			}
		}
	}
	part := row
	if rest := row.Amount.Sub(t.Amount); rest.Sign() > 0 {
		if err := a.tx.Model(&models.Transfer{}).Where("id = ?", row.ID).Updates(map[string]any{"amount": rest, "updated_at": a.now}).Error; err != nil {
			return false, err
		}
		part.ID, part.CreatedAt = 0, a.now
	}
	if row.Resolution == "" {
		return true, a.saveTransfer(models.Transfer{ID: part.ID, CreatedAt: part.CreatedAt}, t, block)
	}
	height := block.Height
	part.TxID, part.Index, part.Amount, part.Height, part.BlockHash, part.UpdatedAt = t.TxID, t.Index, t.Amount, &height, block.Hash, a.now
	return true, a.tx.Save(&part).Error
}
