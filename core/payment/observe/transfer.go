package observe

import (
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// applyTransfer writes a transfer as a block (or, without one, the mempool) shows it.
func (a *applying) applyTransfer(t chain.Transfer, block *chain.Header) error {
	row, known := a.known[t.Key()]
	if !known {
		return a.insertTransfer(t, block)
	}
	if block != nil && row.Height == nil && movesOtherMoney(row, t) {
		return a.replaceOnNewBranch(row, t, block)
	}
	was := row
	row.Gone, row.GoneAt, row.Reverted = false, nil, t.Reverted
	if block == nil {
		if row.Height != nil {
			return nil // the mempool picture is older than the block
		}
	} else {
		height := block.Height
		row.GoneReason, row.Height, row.BlockHash, row.ConflictTx, row.ConflictHeight = "", &height, block.Hash, "", nil
		if err := a.adjustToBlockTime(&row, block); err != nil {
			return err
		}
	}
	if sameTransfer(was, row) {
		return nil
	}
	a.touchPayment(row)
	row.UpdatedAt = a.now
	v, err := a.handleReturned(&row)
	if err != nil {
		return err
	}
	err = a.tx.Select("Gone", "GoneReason", "GoneAt", "Reverted", "Height", "BlockHash", "ConflictTx", "ConflictHeight", "FirstSeenAt", "SeenAt", "Unmatched", "UpdatedAt").
		Where("id = ?", row.ID).Updates(&row).Error
	if err != nil {
		return err
	}
	a.known[t.Key()] = row
	a.refreshUpdate(row)
	if v == nil {
		return nil
	}
	a.recordSighting(v, row, t.Via)
	return nil
}

// refreshUpdate puts a changed row into the payment that was read before it changed.
func (a *applying) refreshUpdate(row models.Transfer) {
	if row.PaymentID == nil || a.views[*row.PaymentID] == nil {
		return
	}
	n := a.views[*row.PaymentID]
	if was := n.findTransfer(row.ID); was != nil {
		n.addToSums(*was, money.Amount.Sub)
		n.addToSums(row, money.Amount.Add)
		*was = row
	}
}

// handleReturned handles money that counts for a payment which has ended without it:
// it was dropped, replaced, reverted or still unconfirmed then, and is there
// now. The payment stays as it is; the money is unmatched and announced. Money
// that was counted and comes back after a deep reorganisation is not more than
// what was paid.
func (a *applying) handleReturned(row *models.Transfer) (*paymentUpdate, error) {
	if row.Gone || row.Reverted || row.PaymentID == nil || row.Unmatched != "" {
		return nil, nil
	}
	v, err := a.loadUpdate(*row.PaymentID)
	if err != nil || !payment.TakesNoTransfers(v.View) {
		return nil, err
	}
	if v.minedByOthers(*row).Add(row.Amount).Cmp(v.Payment.Paid) <= 0 {
		return nil, nil
	}
	row.Unmatched = payment.AfterFinal
	return v, nil
}

func sameTransfer(a, b models.Transfer) bool {
	return a.Gone == b.Gone && a.Reverted == b.Reverted && a.BlockHash == b.BlockHash && (a.Height == nil) == (b.Height == nil)
}

// movesOtherMoney reports whether a transfer moves something else than the one that was
// seen at its place in the transaction: a contract's may, on another branch.
func movesOtherMoney(row models.Transfer, t chain.Transfer) bool {
	return row.Address != t.Address || row.Asset != t.Asset || row.Amount.Cmp(t.Amount) != 0
}

// replaceOnNewBranch stores what a transaction moves on the branch that counts now in place of
// what it moved on the one that was undone, whosever that was.
func (a *applying) replaceOnNewBranch(row models.Transfer, t chain.Transfer, block *chain.Header) error {
	a.touchPayment(row)
	if row.PaymentID != nil && a.views[*row.PaymentID] != nil {
		n := a.views[*row.PaymentID]
		n.Transfers = slices.DeleteFunc(n.Transfers, func(one models.Transfer) bool { return one.ID == row.ID })
		n.summed, n.at = false, nil
	}
	return a.saveTransfer(models.Transfer{ID: row.ID, CreatedAt: row.CreatedAt}, t, block)
}

// insertTransfer stores a transfer that was never seen before, and says whose it is.
func (a *applying) insertTransfer(t chain.Transfer, block *chain.Header) error {
	a.fresh++
	if block != nil && block.Height <= a.tip.Height && t.Via == "" {
		if told, err := a.explainBalance(t, block); err != nil || told {
			return err
		}
	}
	return a.saveTransfer(models.Transfer{CreatedAt: a.now}, t, block)
}

// saveTransfer stores a transfer in a new row, or in one whose content is void.
func (a *applying) saveTransfer(row models.Transfer, t chain.Transfer, block *chain.Header) error {
	row.Network, row.TxID, row.Index, row.Asset, row.Address = a.network, t.TxID, t.Index, t.Asset, t.Address
	row.Amount, row.Reverted, row.Maturity, row.FirstSeenAt, row.UpdatedAt = t.Amount, t.Reverted, t.Maturity, a.now, a.now
	if t.Tag != nil {
		tag := int64(*t.Tag)
		row.Tag = &tag
	}
	if block != nil {
		height := block.Height
		row.Height, row.BlockHash = &height, block.Hash
		if block.Time.Before(a.now) { // it was there before we looked
			row.FirstSeenAt = block.Time.UTC().Truncate(time.Microsecond)
		}
	}
	v, err := a.attachToPayment(&row, unmatchedReason(t))
	if err != nil {
		return err
	}
	if err := a.inheritFirstSeen(&row, t.Spends); err != nil {
		return err
	}
	if err := a.createTransfer(&row, t.Spends); err != nil {
		return err
	}
	a.known[t.Key()] = row
	if v == nil {
		return nil
	}
	a.touchPayment(row)
	a.recordSighting(v, row, t.Via)
	return nil
}

// inheritFirstSeen gives a transfer the time of the one that it replaces, where that
// would have paid the same payment no less: a customer who raises the fee has
// paid when they first did. One that pays more than it replaces is of now, so that
// nobody holds a price by a promise.
func (a *applying) inheritFirstSeen(row *models.Transfer, spends []string) error {
	if row.PaymentID == nil || row.Unmatched != "" || len(spends) == 0 {
		return nil
	}
	replaced, err := a.listReplaced(row, spends)
	if err != nil {
		return err
	}
	for _, r := range replaced {
		if r.seen != nil && r.seen.Before(*row.SeenAt) && r.paid.Cmp(row.Amount) >= 0 {
			row.SeenAt = r.seen
		}
	}
	return nil
}

// createTransfer writes a transfer, and the spend keys of its transaction with the first of its
// transfers that was seen: they are the whole transaction's.
func (a *applying) createTransfer(row *models.Transfer, keys []string) error {
	if err := a.tx.Save(row).Error; err != nil || a.noted == row.TxID {
		return err
	}
	a.noted = row.TxID
	var others []int64
	err := a.tx.Model(&models.Transfer{}).Where("network = ? AND tx_id = ? AND id <> ?", a.network, row.TxID, row.ID).Limit(1).Pluck("id", &others).Error
	if err != nil || len(others) > 0 || len(keys) == 0 {
		return err
	}
	keys = keys[:min(len(keys), chain.MaxSpends)]
	spends := make([]models.Spend, len(keys))
	for i, key := range keys {
		spends[i] = models.Spend{Network: a.network, Key: key, TransferID: row.ID}
	}
	a.spends = append(a.spends, keys...)
	return a.tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&spends).Error
}

// attachToPayment finds the payment that a transfer's destination was given to, and
// whether it credits it. Barred is why it can't, wherever it came to; "" when it can.
func (a *applying) attachToPayment(row *models.Transfer, barred string) (*paymentUpdate, error) {
	places, err := a.findDestinations(row)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		row.Unmatched = payment.UnknownTag
		return nil, nil
	}
	place := places[0] // the exact tag when there is one, else the account itself
	row.BusinessID, row.Domain, row.PaymentID = place.BusinessID, place.Domain, place.PaymentID
	if place.PaymentID == nil {
		switch {
		case barred != "":
			row.Unmatched = barred
		case place.WalletID != nil:
			row.Unmatched = payment.UnknownPayment
		case row.Tag != nil:
			row.Unmatched = payment.UnknownTag
		default:
			row.Unmatched = payment.MissingTag
		}
		return nil, nil
	}
	v, err := a.loadUpdate(*place.PaymentID)
	if err != nil {
		return nil, err
	}
	seen := v.FirstSeenOnClock(*row)
	row.SeenAt = &seen
	switch {
	case barred != "":
		row.Unmatched = barred
	case row.Asset != v.Payment.Coin:
		row.Unmatched = payment.WrongAsset
	case payment.TakesNoTransfers(v.View):
		row.Unmatched = payment.AfterFinal
	}
	return v, nil
}

// unmatchedReason is why a transfer credits nothing wherever it came to, or "".
func unmatchedReason(t chain.Transfer) string {
	switch {
	case t.Unproved:
		return payment.Unproved
	case t.Via == UnknownVia:
		return payment.NoTransaction
	case t.Via != "":
		return payment.NotPayment
	}
	return ""
}

// destinationTags are the tags under which a transfer's destination may stand.
func destinationTags(row *models.Transfer) []int64 {
	if row.Tag != nil {
		return []int64{*row.Tag, -1}
	}
	return []int64{-1}
}
