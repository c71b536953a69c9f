package place

import (
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/models"
)

// StartHolding begins to look at what the address of a payment holds, which its customer is
// about to be shown, where money may come there without paying it. The balance of an address that payments share
// says nothing of one of them. tip is the last block of its network.
func StartHolding(tx *models.Tx, contracts map[chain.Network]Contract, p models.Payment, tip int64) error {
	if _, ok := contracts[chain.Network(p.Network)]; !ok || tip == 0 || p.ExactAmount {
		return nil
	}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&models.Holding{PaymentID: p.ID, Network: p.Network,
		Address: p.Address, Height: tip, Next: tip + 1}).Error
}
