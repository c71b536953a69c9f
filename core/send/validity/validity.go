// Package validity knows whether a transaction that was handed to a wallet for a send may still confirm, whatever became
// of those that were seen.
package validity

import (
	"slices"

	"cointill/chain"
	"cointill/models"
)

// Data is the signing data that was handed out for a send: the money or number that each prepared transaction uses,
// the last and all earlier ones.
type Data struct {
	chain.Claim
	Any     bool // whether anything was handed out
	row     models.Send
	outputs bool
}

// Read reads the signing data that was handed out for a send, by itself or in a batch. order is the send's, from its
// account.
func Read(tx *models.Tx, signer chain.Signer, row models.Send, order chain.Order) (d Data, err error) {
	d.row, d.outputs = row, chain.Network(row.Network).HasOutputs()
	terms := row.Terms
	if row.BatchID != nil {
		var batch models.SendBatch
		if err := tx.Where("id = ?", *row.BatchID).Take(&batch).Error; err != nil {
			return d, err
		}
		terms = batch.Terms
	}
	if d.Any = terms != "" && signer != nil; !d.Any {
		return d, nil
	}
	switch s := signer.(type) {
	case chain.OutputSigner:
		_, d.Keys, err = s.ListInputs(terms)
	case chain.NumberSigner:
		d.Claim, err = s.ReadClaim(order, terms)
	}
	return d, err
}

// IsOutstanding reports that a transaction which was handed out may still confirm: no transaction that can't confirm
// any more, or has failed, used up what all of them use. isDeep tells heights at which nothing changes any more.
func (d Data) IsOutstanding(tx *models.Tx, transfers []models.Transfer, isDeep func(height int64) bool) (bool, error) {
	if len(d.Keys) == 0 { // what a contract wallet has signed is bound by nothing that is known here
		return d.Any, nil
	}
	for _, t := range transfers {
		if !isOver(t, isDeep) {
			continue
		}
		if t.TxID == d.row.SignedHash && !d.outputs { // it was checked to have the same number
			return false, nil
		}
		var keys []string
		if err := tx.Model(&models.Spend{}).Where("transfer_id = ?", t.ID).Pluck("spend_key", &keys).Error; err != nil {
			return true, err
		}
		// Which of its keys another transaction used up isn't known, so all of them must be shared.
		if len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(d.Keys, key) }) {
			return false, nil
		}
	}
	return true, nil
}

// HasLapsed reports that the network's height is above the last one at which a transaction that was handed out can be
// in a block, and that no other transaction was seen that may still confirm.
func (d Data) HasLapsed(transfers []models.Transfer, tip int64, isDeep func(height int64) bool) bool {
	return d.Last > 0 && tip > d.Last && !slices.ContainsFunc(transfers, func(t models.Transfer) bool {
		return !isOver(t, isDeep) && t.TxID != d.row.SignedHash
	})
}

// AreOver reports that none of these transactions can pay any more.
func AreOver(transfers []models.Transfer, isDeep func(height int64) bool) bool {
	return !slices.ContainsFunc(transfers, func(t models.Transfer) bool { return !isOver(t, isDeep) })
}

// isOver reports that a transaction can't pay any more: it failed, or another one used up the same, for good.
func isOver(t models.Transfer, isDeep func(height int64) bool) bool {
	return t.Reverted && !t.Gone && t.Height != nil && isDeep(*t.Height) || t.ConflictHeight != nil && isDeep(*t.ConflictHeight)
}
