package observe

import (
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/departure"
	"cointill/core/scope"
	"cointill/core/send/outputs"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
)

// applyTransfer writes a transfer of a block, or of the mempool when block is nil.
func (a *batchApplier) applyTransfer(t chain.Transfer, block *chain.Header) error {
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
		if row.SendID != nil {
			row.Fee = feeOf(t)
		}
		if row.PaymentID == nil && row.Booked == "" && row.Resolution == "" {
			keepOwn(a.movers, &row)
		}
		if err := a.updates.adjustToBlockTime(&row, block); err != nil {
			return err
		}
	}
	if sameTransfer(was, row) {
		return nil
	}
	a.touched.addTransfer(row)
	row.UpdatedAt = a.now
	v, err := a.handleReturned(&row, was)
	if err != nil {
		return err
	}
	columns := []string{"Gone", "GoneReason", "GoneAt", "Reverted", "Height", "BlockHash", "ConflictTx",
		"ConflictHeight", "Fee", "FirstSeenAt", "SeenAt", "Unmatched", "UpdatedAt"}
	if was.Height == nil && was.Booked == "" && row.PaymentID != nil { // a block has it now: no account holds it
		if arrival := bookArrival(&row, a.updates.byID[*row.PaymentID], a.now, a.shares); arrival != nil {
			a.arrivals = append(a.arrivals, *arrival)
			columns = append(columns, "Booked", "BookedValue")
		}
	}
	if err := a.tx.Select(columns).Where("id = ?", row.ID).Updates(&row).Error; err != nil {
		return err
	}
	if row.Unmatched != was.Unmatched {
		if err := notification.NoteUnmatched(a.tx, row, a.now); err != nil {
			return err
		}
	}
	a.known[t.Key()] = row
	a.updates.refreshUpdate(row)
	if v == nil {
		return nil
	}
	a.updates.recordSighting(v, row, t.Via)
	return nil
}

// handleReturned handles a transfer of a payment that ended without it: it was dropped,
// replaced, reverted or unconfirmed then, and is confirmed now. The payment stays as it is;
// the money becomes unmatched, with an event. Money that was ever credited to the payment, and returns
// after a deep reorg, stays the payment's. was is the stored row.
func (a *batchApplier) handleReturned(row *models.Transfer, was models.Transfer) (*paymentUpdate, error) {
	if row.Reverted || row.PaymentID == nil || row.Unmatched != "" {
		return nil, nil
	}
	v, err := a.updates.loadUpdate(*row.PaymentID)
	if err != nil || !payment.TakesNoTransfers(v.View) {
		return nil, err
	}
	if v.counted == nil {
		if v.counted, err = books.ListCounted(a.tx, v.Payment.ID); err != nil {
			return nil, err
		}
	}
	if v.counted[row.ID] {
		return nil, nil
	}
	row.Unmatched = payment.AfterFinal
	if was.Booked != "" { // it left with the old branch, as the money that it was
		err = books.BookTransfer(a.tx, a.now, was)
	}
	return v, err
}

func sameTransfer(a, b models.Transfer) bool {
	return a.Gone == b.Gone && a.Reverted == b.Reverted && a.BlockHash == b.BlockHash
}

// movesOtherMoney reports whether a transfer differs from the one that was seen at its place
// in the transaction. A contract may move other money on another branch.
func movesOtherMoney(row models.Transfer, t chain.Transfer) bool {
	return row.Address != t.Address || row.Asset != t.Asset || row.Amount.Cmp(t.Amount) != 0
}

// replaceOnNewBranch overwrites a transfer after a reorg changed what its transaction moves.
// The new transfer may belong to another payment.
func (a *batchApplier) replaceOnNewBranch(row models.Transfer, t chain.Transfer, block *chain.Header) error {
	a.touched.addTransfer(row)
	if row.Booked != "" { // as what the old branch moved
		if err := books.BookTransfer(a.tx, a.now, row); err != nil {
			return err
		}
	}
	if row.PaymentID != nil && a.updates.byID[*row.PaymentID] != nil {
		n := a.updates.byID[*row.PaymentID]
		n.Transfers = slices.DeleteFunc(n.Transfers, func(one models.Transfer) bool { return one.ID == row.ID })
		n.summed, n.at = false, nil
	}
	return a.saveTransfer(models.Transfer{ID: row.ID, CreatedAt: row.CreatedAt}, t, block)
}

// insertTransfer stores a transfer that was never seen before, and finds its payment.
func (a *batchApplier) insertTransfer(t chain.Transfer, block *chain.Header) error {
	a.fresh++
	if block != nil && block.Height <= a.tip.Height && t.Via == "" {
		if explained, err := a.explainBalance(t, block); err != nil || explained {
			return err
		}
	}
	return a.saveTransfer(models.Transfer{CreatedAt: a.now}, t, block)
}

// saveTransfer stores a transfer in a new row, or in one whose content is overwritten.
func (a *batchApplier) saveTransfer(row models.Transfer, t chain.Transfer, block *chain.Header) error {
	row.Network, row.TxID, row.Index, row.Asset, row.Address = a.network, t.TxID, t.Index, t.Asset, t.Address
	row.Amount, row.Reverted, row.Maturity, row.FirstSeenAt, row.UpdatedAt = t.Amount, t.Reverted, t.Maturity, a.now,
		a.now
	if t.Tag != nil {
		tag := int64(*t.Tag)
		row.Tag = &tag
	}
	if block != nil {
		height := block.Height
		row.Height, row.BlockHash = &height, block.Hash
		if block.Time.Before(a.now) { // the block is older than this read
			row.FirstSeenAt = block.Time.UTC().Truncate(time.Microsecond)
		}
	}
	if foreign, err := a.matchSend(&row, t, block); err != nil || foreign {
		return err
	}
	v, err := a.attachToPayment(&row, unmatchedReason(t))
	if err != nil {
		return err
	}
	if err := a.inheritFirstSeen(&row, t.Spends); err != nil {
		return err
	}
	arrival := bookArrival(&row, v, a.now, a.shares)
	if err := a.createTransfer(&row, t.Spends); err != nil {
		return err
	}
	if arrival != nil {
		a.arrivals = append(a.arrivals, *arrival)
	}
	if err := notification.NoteUnmatched(a.tx, row, a.now); err != nil {
		return err
	}
	a.known[t.Key()] = row
	a.touched.addTransfer(row)
	if v != nil {
		a.updates.recordSighting(v, row, t.Via)
	}
	return nil
}

// bookArrival gives a transfer of a payment that no account holds its place in the books: none as long
// as no block has it. It returns the move to post when the row is stored, nil without a payment's
// update: such a transfer is booked when the batch ends.
func bookArrival(row *models.Transfer, v *paymentUpdate, now time.Time, shares payment.Shares) *journal.Move {
	if v == nil {
		return nil
	}
	m := v.FindMove(row, now)
	shares.SetValue(v.View, &m)
	m.SetPlace(row)
	return &m
}

// inheritFirstSeen gives a transfer the first-seen time of the one that it replaces, if that
// paid the same payment at least as much: a customer who raises the fee has paid at the first
// time. A larger replacement gets today's time. Otherwise a small early payment would hold a
// price for a large late one.
func (a *batchApplier) inheritFirstSeen(row *models.Transfer, spends []string) error {
	if row.PaymentID == nil || row.Unmatched != "" || len(spends) == 0 {
		return nil
	}
	replaced, err := a.listReplaced(row, spends)
	if err != nil {
		return err
	}
	for _, r := range replaced {
		if r.seen.Before(*row.SeenAt) && r.paid.Cmp(row.Amount) >= 0 {
			row.SeenAt = &r.seen
		}
	}
	return nil
}

// createTransfer writes a transfer. The first transfer of a transaction also stores the
// transaction's spend keys.
func (a *batchApplier) createTransfer(row *models.Transfer, keys []string) error {
	if err := a.tx.Save(row).Error; err != nil {
		return err
	}
	if row.Spendable { // to see it spent
		a.spends = append(a.spends, departure.FormatOutpoint(*row))
	}
	if a.noted == row.TxID {
		return nil
	}
	a.noted = row.TxID
	var others []int64
	err := a.tx.Model(&models.Transfer{}).Where("network = ? AND tx_id = ? AND id <> ?", a.network, row.TxID, row.ID).
		Limit(1).Pluck("id", &others).Error
	if err != nil || len(others) > 0 {
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

// attachToPayment finds the payment of a transfer's destination and whether the transfer
// credits it. reason says why it can't, at any destination; it is "" when it can.
func (a *batchApplier) attachToPayment(row *models.Transfer, reason string) (*paymentUpdate, error) {
	places, err := a.findDestinations(row)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		if row.SendID == nil {
			row.Unmatched = payment.UnknownTag
		}
		return nil, nil
	}
	place := places[0] // the exact tag when there is one, otherwise the account itself
	row.BusinessID, row.Domain, row.PaymentID = place.BusinessID, place.Domain, place.PaymentID
	row.Spendable = chain.Network(a.network).HasOutputs()
	if place.ChangeOf != nil { // money of the business that returns to it: no payment, and nothing for the books
		return nil, outputs.NoteChange(a.tx, place)
	}
	entered := true // the address for the network
	if isOneAddress(place) && reason == "" {
		if entered, err = findByAmount(a.tx, a.home, row); err != nil {
			return nil, err
		}
	}
	if row.PaymentID == nil {
		switch {
		case reason != "":
			row.Unmatched = reason
		case isOneAddress(place):
			row.Unmatched = payment.OtherAmount
			if money.Coin(row.Asset).Info().Coin == "" {
				row.Unmatched = payment.WrongAsset
			}
		case place.WalletID != nil:
			row.Unmatched = payment.UnknownPayment
		case row.Tag != nil:
			row.Unmatched = payment.UnknownTag
		default:
			row.Unmatched = payment.MissingTag
		}
		keepOwn(a.movers, row)
		return nil, nil
	}
	v, err := a.updates.loadUpdate(*row.PaymentID)
	if err != nil {
		return nil, err
	}
	seen := v.FirstSeenOnClock(*row)
	row.SeenAt = &seen
	counts := false
	if reason == "" && row.Asset == v.Payment.Coin && entered {
		if counts, err = a.countsOnNetwork(v); err != nil {
			return nil, err
		}
	}
	switch {
	case reason != "":
		row.Unmatched = reason
	case row.Asset != v.Payment.Coin:
		row.Unmatched = payment.WrongAsset
	case !entered:
		row.Unmatched = payment.AddressNotEntered
	case !counts:
		row.Unmatched = payment.NetworkOff
	case payment.TakesNoTransfers(v.View):
		row.Unmatched = payment.AfterFinal
	default:
		err = payment.SwitchNetwork(a.tx, a.Service, v.View, a.network, row.Address)
	}
	return v, err
}

// keepOwn takes a transfer for no payment that a business made to itself from its unmatched ones.
func keepOwn(movers map[departure.Mover]bool, row *models.Transfer) {
	if movers[departure.Mover{TxID: row.TxID, BusinessID: row.BusinessID, Domain: row.Domain}] {
		row.Unmatched = ""
	}
}

// isOneAddress reports an address that all payments of a business go to, each with an amount of its own.
func isOneAddress(place models.Destination) bool {
	return place.PaymentID == nil && place.WalletID != nil && place.Index == nil
}

// findByAmount finds the payment that holds the amount of a transfer to one address. entered reports whether the
// address was entered for the network that is read.
func findByAmount(tx *models.Tx, home string, row *models.Transfer) (entered bool, err error) {
	id, entered, err := oneaddress.Find(tx, home, *row)
	if err == nil && id != 0 {
		row.PaymentID = &id
	}
	return entered, err
}

// countsOnNetwork reports whether the payment's coin counts on the network that is read: its customer was shown it, or
// it is on for the business now. Then it is one of the payment's networks from here on.
func (a *batchApplier) countsOnNetwork(v *paymentUpdate) (bool, error) {
	if v.WasShown(a.network) {
		return true, nil
	}
	accepted, err := networks.Accepted(a.tx, scope.Scope{BusinessID: v.Payment.BusinessID,
		Domain: scope.Domain(v.Payment.Domain)}, a.Networks)
	method := money.Method(v.Payment.Method)
	if err != nil || !slices.Contains(accepted[method], chain.Network(a.network).Code()) {
		return false, err
	}
	return true, payment.AddNetwork(a.tx, a.Service, v.View, a.network)
}

// unmatchedReason returns why a transfer credits nothing at any destination, or "".
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

// destinationTags returns the tags under which a transfer's destination may be stored.
func destinationTags(row *models.Transfer) []int64 {
	if row.Tag != nil {
		return []int64{*row.Tag, -1}
	}
	return []int64{-1}
}
