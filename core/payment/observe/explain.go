package observe

import (
	"slices"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/models"
)

// UnknownVia marks money that only an address's balance shows.
const UnknownVia = "sent on by a contract, in a transaction that the node doesn't show"

// explainBalance finds the transaction of money that only a balance showed, when a block that
// is read again holds it. explained is true when nothing else is to store. Money that a person
// marked as refunded stays refunded.
func (a *batchApplier) explainBalance(t chain.Transfer, block *chain.Header) (explained bool, err error) {
	var rows []models.Transfer
	err = a.tx.Where("network = ? AND unmatched = ? AND asset = ? AND height >= ? AND payment_id IN (?)", a.network,
		payment.NoTransaction, t.Asset, block.Height,
		a.tx.Model(&models.Destination{}).Select("payment_id").Where("network = ? AND address = ? AND tag = -1",
			a.home, t.Address)).
		Order("height").Find(&rows).Error
	rows = slices.DeleteFunc(rows, func(row models.Transfer) bool { return !row.ShownByBalance() })
	if err != nil || len(rows) == 0 {
		return false, err
	}
	row := chooseBalance(rows, t.Amount)
	if row.Resolution == "" {
		if err := books.UnbookTransfer(a.tx, a.now, &row); err != nil {
			return false, err
		}
	}
	part := row
	if rest := row.Amount.Sub(t.Amount); rest.Sign() > 0 {
		if err := a.tx.Model(&models.Transfer{}).Where("id = ?", row.ID).
			Updates(map[string]any{"amount": rest, "updated_at": a.now}).Error; err != nil {
			return false, err
		}
		part.ID, part.CreatedAt = 0, a.now
	}
	if row.Resolution == "" {
		return true, a.saveTransfer(models.Transfer{ID: part.ID, CreatedAt: part.CreatedAt}, t, block)
	}
	height := block.Height
	part.TxID, part.Index, part.Amount, part.Height, part.BlockHash, part.UpdatedAt = t.TxID, t.Index, t.Amount,
		&height, block.Hash, a.now
	return true, a.tx.Save(&part).Error
}

// chooseBalance returns the first row with an amount; otherwise the first with a larger one;
// otherwise the first, because the merchant moved money away at the same time.
func chooseBalance(rows []models.Transfer, amount money.Amount) models.Transfer {
	for _, compared := range []int{0, 1} {
		has := func(row models.Transfer) bool { return row.Amount.Cmp(amount) == compared }
		if i := slices.IndexFunc(rows, has); i >= 0 {
			return rows[i]
		}
	}
	return rows[0]
}
