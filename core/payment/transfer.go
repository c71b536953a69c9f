package payment

import (
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// Why a transfer credits no payment.
const (
	WrongAsset = "wrong_asset"
	MissingTag = "missing_tag"
	UnknownTag = "unknown_tag"
	AfterFinal = "after_final"
)

// seen writes a transfer as a block (or, without one, the mempool) shows it.
func (a *applying) seen(t chain.Transfer, block *chain.Header) error {
	var row models.Transfer
	found := a.tx.Where("network = ? AND tx_id = ? AND idx = ?", a.network, t.TxID, t.Index).Limit(1).Find(&row)
	if found.Error != nil {
		return found.Error
	}
	if found.RowsAffected == 0 {
		return a.first(t, block)
	}
	was := row
	row.Gone, row.Reverted = false, t.Reverted
	if block == nil {
		if row.Height != nil {
			return nil // the mempool picture is older than the block
		}
	} else {
		height := block.Height
		row.GoneReason, row.Height, row.BlockHash, row.ConflictTx, row.ConflictHeight = "", &height, block.Hash, "", nil
	}
	if same(was, row) {
		return nil
	}
	a.touch(row)
	row.UpdatedAt = a.now
	v, err := a.returned(&row)
	if err != nil {
		return err
	}
	err = a.tx.Select("Gone", "GoneReason", "Reverted", "Height", "BlockHash", "ConflictTx", "ConflictHeight", "Unmatched", "UpdatedAt").
		Where("id = ?", row.ID).Updates(&row).Error
	if err != nil || v == nil {
		return err
	}
	return a.announce(v, row)
}

// returned handles money that counts for a payment which has ended without it:
// it was dropped, replaced, reverted or still unconfirmed then, and is there
// now. The payment stays as it is; the money is unmatched and announced. Money
// that was counted and comes back after a deep reorganisation is not more than
// what was paid.
func (a *applying) returned(row *models.Transfer) (*View, error) {
	if row.Gone || row.Reverted || row.PaymentID == nil || row.Unmatched != "" {
		return nil, nil
	}
	v, err := a.load(a.tx, *row.PaymentID)
	if err != nil || !ended(v) {
		return nil, err
	}
	sum := row.Amount
	for _, t := range v.Transfers {
		if t.ID != row.ID && t.Height != nil && !t.Gone && !t.Reverted {
			sum = sum.Add(t.Amount)
		}
	}
	if sum.Cmp(v.Payment.Paid) <= 0 {
		return nil, nil
	}
	row.Unmatched = AfterFinal
	return v, nil
}

func same(a, b models.Transfer) bool {
	return a.Gone == b.Gone && a.Reverted == b.Reverted && a.BlockHash == b.BlockHash && (a.Height == nil) == (b.Height == nil)
}

// first stores a transfer that was never seen before, and says whose it is.
func (a *applying) first(t chain.Transfer, block *chain.Header) error {
	row := models.Transfer{Network: a.network, TxID: t.TxID, Index: t.Index, Asset: t.Asset, Address: t.Address,
		Amount: t.Amount, Reverted: t.Reverted, Maturity: t.Maturity, FirstSeenAt: a.now, CreatedAt: a.now, UpdatedAt: a.now}
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
	v, err := a.attach(&row)
	if err != nil {
		return err
	}
	if err := a.tx.Create(&row).Error; err != nil {
		return err
	}
	a.fresh++
	for i, key := range t.Spends {
		if i == chain.MaxSpends {
			break
		}
		spend := models.Spend{Network: a.network, Key: key, TransferID: row.ID}
		if err := a.tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&spend).Error; err != nil {
			return err
		}
		a.spends = append(a.spends, key)
	}
	if v == nil {
		return nil
	}
	a.touch(row)
	return a.announce(v, row)
}

// attach finds the payment that a transfer's destination was given to, and
// whether it credits it.
func (a *applying) attach(row *models.Transfer) (*View, error) {
	var places []models.Destination
	if err := a.tx.Where("network = ? AND address = ? AND tag IN ?", a.network, row.Address, tagsOf(row)).Order("tag DESC").Find(&places).Error; err != nil {
		return nil, err
	}
	if len(places) == 0 {
		row.Unmatched = UnknownTag
		return nil, nil
	}
	place := places[0] // the exact tag when there is one, else the account itself
	row.BusinessID, row.Domain, row.PaymentID = place.BusinessID, place.Domain, place.PaymentID
	if place.PaymentID == nil {
		row.Unmatched = MissingTag
		if row.Tag != nil {
			row.Unmatched = UnknownTag
		}
		return nil, nil
	}
	v, err := a.load(a.tx, *place.PaymentID)
	if err != nil {
		return nil, err
	}
	seen := row.FirstSeenAt.Add(time.Duration(v.Payment.Advanced) * time.Second)
	if v.Payment.OpenedAt != nil && seen.Before(*v.Payment.OpenedAt) {
		seen = *v.Payment.OpenedAt // a block's clock may be behind ours; nobody knew the address before
	}
	row.SeenAt = &seen
	switch {
	case row.Asset != v.Payment.Coin:
		row.Unmatched = WrongAsset
	case ended(v):
		row.Unmatched = AfterFinal
	}
	return v, nil
}

// ended reports whether a payment takes no more transfers.
func ended(v *View) bool { return v.State().Final() && v.State() != Abandoned }

// tagsOf are the tags under which a transfer's destination may stand.
func tagsOf(row *models.Transfer) []int64 {
	if row.Tag != nil {
		return []int64{*row.Tag, -1}
	}
	return []int64{-1}
}

// announce puts a transfer's first sighting on the payment's timeline and tells the merchant.
func (a *applying) announce(v *View, row models.Transfer) error {
	amount := row.Asset + " " + row.Amount.String()
	if coin := money.Coin(row.Asset); coin.Info().Unit > 0 {
		amount = coin.Format(row.Amount) + " " + row.Asset
	}
	remark, kind := "Seen on the network: "+amount+".", webhook.PaymentDetected
	switch row.Unmatched {
	case WrongAsset:
		remark, kind = "Another asset came to this payment's address: "+amount+". It credits nothing.", webhook.PaymentUnexpectedTransfer
	case AfterFinal:
		remark, kind = "More money came after the end: "+amount+". It is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	}
	if err := a.step(a.tx, v, models.Step{Kind: StepTransfer, From: v.Payment.Status, To: v.Payment.Status, Remark: remark,
		Reason: row.Unmatched, Detail: detail(map[string]any{"hash": row.TxID, "index": row.Index, "amount": row.Amount.String(), "asset": row.Asset})}); err != nil {
		return err
	}
	if row.Unmatched == "" {
		v.Transfers = append(v.Transfers, row)
		v.Payment.Paid = money.Amount{}
		for _, t := range v.Transfers {
			if !t.Gone && !t.Reverted {
				v.Payment.Paid = v.Payment.Paid.Add(t.Amount)
			}
		}
		if v.Payment.FirstSeenAt == nil {
			v.Payment.FirstSeenAt = row.SeenAt
		}
	}
	if err := a.emit(a.tx, v, kind); err != nil {
		return err
	}
	if ahead := v.Payment.AdvanceOnSeen; ahead > 0 && v.Payment.Domain == string(scope.Test) {
		v.Payment.AdvanceOnSeen = 0
		v.Payment.Advanced += ahead
	}
	return a.save(a.tx, v)
}
