// Package fees knows what networks took for the transactions of sends.
package fees

import (
	"cointill/chain"
	"cointill/core/money"
	"cointill/models"
)

// Sum returns what the transactions of transfers that pay a send cost, in the smallest unit of the
// network's own coin. The fee of a transaction that pays several sends of the business, or one send
// several times, is that of its first transfer. A fee that isn't known counts as none.
func Sum(tx *models.Tx, row models.Send, transfers []models.Transfer) (sum money.Amount, err error) {
	for _, t := range transfers {
		fee := t.Fee
		if t.TxID == row.SignedHash && chain.Network(row.Network).HasOutputs() {
			fee = row.SignedFee // inputs less outputs, as it was checked
		}
		if fee.Sign() == 0 {
			continue
		}
		first, err := isFirst(tx, row, t)
		if err != nil {
			return sum, err
		}
		if first {
			sum = sum.Add(fee)
		}
	}
	return sum, nil
}

// isFirst reports whether no earlier transfer of the same transaction pays a send of the business.
func isFirst(tx *models.Tx, row models.Send, t models.Transfer) (bool, error) {
	var earlier []int64
	err := tx.Model(&models.Transfer{}).Where("tx_id = ? AND network = ? AND id < ? AND send_id IN (?)", t.TxID,
		t.Network, t.ID, tx.Model(&models.Send{}).Select("id").Where("business_id = ?", row.BusinessID)).
		Limit(1).Pluck("id", &earlier).Error
	return len(earlier) == 0, err
}
