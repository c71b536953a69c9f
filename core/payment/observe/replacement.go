package observe

import (
	"maps"
	"time"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// markDoubleSpends records that transactions used up spend keys. Every unconfirmed transfer of
// another transaction that needs one of these keys is replaced, for good once the new
// transaction is final. height is the height of its block, nil for the mempool, whose snapshot
// repeats the same spends each time.
func (a *batchApplier) markDoubleSpends(spends []chain.Spend, height *int64) error {
	for from := 0; from < len(spends); {
		rival, keys := spends[from].TxID, []string(nil)
		for ; from < len(spends) && spends[from].TxID == rival; from++ {
			keys = append(keys, spends[from].Key)
		}
		need := models.Among(a.tx.Model(&models.Spend{}).Select("transfer_id").Where("network = ?", a.network),
			"spend_key", keys)
		query := a.tx.Where("network = ? AND tx_id <> ? AND height IS NULL AND tx_id IN (?)", a.network, rival,
			a.tx.Model(&models.Transfer{}).Select("tx_id").Where("id IN (?)", need))
		set := map[string]any{"gone_reason": string(payment.Replaced)}
		if height == nil {
			query = query.Where("gone_reason <> ?", string(payment.Replaced))
		} else {
			set["conflict_tx"], set["conflict_height"] = rival, *height
		}
		var losers []models.Transfer
		if err := query.Find(&losers).Error; err != nil {
			return err
		}
		if err := a.markTransfersGone(losers, set); err != nil {
			return err
		}
	}
	return nil
}

// markTransfersGone marks transfers as gone, from now on by their payments' own clocks, unless
// they were gone before. A transaction may have thousands of outputs, so rows with the same
// time are written together.
func (a *batchApplier) markTransfersGone(lost []models.Transfer, set map[string]any) error {
	ahead, err := readAdvancedClocks(a.tx, lost)
	if err != nil {
		return err
	}
	for from := 0; from < len(lost); {
		since := ahead.goneSince(a.now, lost[from])
		var ids []int64
		for ; from < len(lost) && ahead.goneSince(a.now, lost[from]).Equal(since); from++ {
			a.touched.addTransfer(lost[from])
			ids = append(ids, lost[from].ID)
		}
		row := maps.Clone(set)
		row["gone"], row["updated_at"] = true, a.now
		if !since.IsZero() {
			row["gone_at"] = since
		}
		if err := models.Among(a.tx.Model(&models.Transfer{}), "id", ids).Updates(row).Error; err != nil {
			return err
		}
	}
	return nil
}

// advancedClocks holds how far the clocks of payments were moved, by payment id. Only the
// sandbox moves them.
type advancedClocks map[int64]time.Duration

// goneSince returns the time since which a missing transfer is gone, zero when it was gone
// before.
func (c advancedClocks) goneSince(now time.Time, t models.Transfer) time.Time {
	switch {
	case t.Gone:
		return time.Time{}
	case t.PaymentID == nil:
		return now
	}
	return now.Add(c[*t.PaymentID])
}

// readAdvancedClocks reads the clocks of the transfers' payments.
func readAdvancedClocks(tx *models.Tx, transfers []models.Transfer) (advancedClocks, error) {
	var ids []int64
	for _, t := range transfers {
		if t.PaymentID != nil && t.Domain == string(scope.Test) && (len(ids) == 0 || ids[len(ids)-1] != *t.PaymentID) {
			ids = append(ids, *t.PaymentID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var moved []models.Payment
	if err := models.Among(tx.Select("id", "advanced").Where("advanced > 0"), "id", ids).
		Find(&moved).Error; err != nil {
		return nil, err
	}
	c := advancedClocks{}
	for _, p := range moved {
		c[p.ID] = payment.ClockAdvance(p)
	}
	return c, nil
}
