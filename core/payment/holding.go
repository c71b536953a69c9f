package payment

import (
	"cointill/chain"
	"cointill/models"
)

// startHolding begins to look at what the address of a payment holds, which its customer is
// about to be shown, where money may come there without paying it.
func startHolding(tx *models.Tx, contracts map[chain.Network]Contract, v *View) error {
	p, last := v.Payment, v.Chain.Tip
	if _, ok := contracts[chain.Network(p.Network)]; !ok || last == 0 {
		return nil
	}
	return tx.Create(&models.Holding{PaymentID: p.ID, Network: p.Network, Address: p.Address, Height: last,
		Next: last + 1}).Error
}
