package observe

import (
	"cointill/chain"
	"cointill/core/payment"
	"cointill/models"
)

// applyMempool applies a snapshot of the mempool. Its transfers are waiting; transfers that
// waited before and are missing in it are gone.
func (a *batchApplier) applyMempool(p chain.Pending) error {
	inPool := map[string]bool{}
	for _, t := range p.Transfers {
		inPool[t.Key()] = true
	}
	var waiting []models.Transfer
	if err := a.tx.Where("network = ? AND height IS NULL AND NOT gone", a.network).Find(&waiting).Error; err != nil {
		return err
	}
	left := map[payment.Reason][]models.Transfer{}
	for _, t := range waiting {
		if !inPool[transferKey(t)] {
			why := payment.Dropped
			if t.GoneReason == string(payment.Reorged) { // a block held it before
				why = payment.Reorged
			}
			left[why] = append(left[why], t)
		}
	}
	// Missing transfers are marked first: a replacement pays instead of them, not in addition.
	for _, why := range []payment.Reason{payment.Dropped, payment.Reorged} {
		if err := a.markTransfersGone(left[why], map[string]any{"gone_reason": string(why)}); err != nil {
			return err
		}
	}
	if err := a.markDoubleSpends(p.Spends, nil); err != nil {
		return err
	}
	if err := a.loadKnown(p.Transfers); err != nil {
		return err
	}
	if _, err := a.findMovers(nil, p.Spends); err != nil {
		return err
	}
	for _, t := range p.Transfers {
		if err := a.applyTransfer(t, nil); err != nil {
			return err
		}
	}
	return a.updates.flushEvents()
}
