package payment

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/notification"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/core/webhook"
	"cointill/models"
)

// takeSurplus removes the transfers that are not part of an ending payment from the view and
// returns them.
func (v *View) takeSurplus(out Outcome) (surplus []models.Transfer) {
	if len(out.Surplus) == 0 {
		return nil
	}
	kept := make([]models.Transfer, 0, len(v.Transfers)-len(out.Surplus))
	for i, t := range v.Transfers {
		if _, found := slices.BinarySearch(out.Surplus, i); found {
			t.Unmatched, t.Resolution = Surplus, ""
			surplus = append(surplus, t)
		} else {
			kept = append(kept, t)
		}
	}
	v.Transfers = kept
	return surplus
}

// selectSurplus limits a query to surplus and to transfers after the end of a payment. Both are of
// the payment's coin.
func selectSurplus(tx *models.Tx) *models.Tx {
	return tx.Where("unmatched IN ?", []string{Surplus, AfterFinal})
}

// extraColumns are three columns of a query of payments: whether a payment has surplus, refunds that
// people recorded, and sends. Nearly all payments have none.
const extraColumns = `EXISTS (SELECT 1 FROM transfers WHERE payment_id = payments.id AND unmatched IN ('` + Surplus +
	`', '` + AfterFinal + `')), EXISTS (SELECT 1 FROM resolutions WHERE payment_id = payments.id AND kind = '` +
	Refunded + `' AND transfer_id IS NULL), EXISTS (SELECT 1 FROM sends WHERE payment_id = payments.id)`

// readExtras reads the surplus and the refunds of those views that have any, once.
func readExtras(tx *models.Tx, views ...*View) error {
	surplus, refunded, sent := map[int64]*View{}, map[int64]*View{}, map[int64]*View{}
	for _, v := range views {
		if v.hasSends && !v.extrasRead {
			sent[v.Payment.ID], v.Sends, v.Refunded = v, nil, money.Amount{}
		}
		if v.hasSurplus && !v.extrasRead {
			surplus[v.Payment.ID] = v
		}
		if v.hasRefunds && !v.extrasRead {
			refunded[v.Payment.ID], v.Refunded = v, money.Amount{}
		}
		v.extrasRead = true
	}
	if err := readSurplus(tx, surplus); err != nil {
		return err
	}
	if err := readSends(tx, sent); err != nil || len(refunded) == 0 {
		return err
	}
	var refunds []models.Resolution
	err := refund.Select(models.Among(tx, "payment_id", slices.Collect(maps.Keys(refunded)))).Find(&refunds).Error
	for _, r := range refunds {
		v := refunded[*r.PaymentID]
		v.Refunded = v.Refunded.Add(r.Amount)
	}
	return err
}

// readSurplus reads the surplus of payments, without more transfers of one payment than a record
// lists, and their sums.
func readSurplus(tx *models.Tx, views map[int64]*View) error {
	if len(views) == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(views))
	numbered := selectSurplus(models.Among(tx.Model(&models.Transfer{}), "payment_id", ids)).
		Select("*, ROW_NUMBER() OVER (PARTITION BY payment_id ORDER BY id) AS place")
	var rows []models.Transfer
	if err := tx.Table("(?) AS numbered", numbered).Where("place <= ?", MaxTransfers).Order("id").
		Find(&rows).Error; err != nil {
		return err
	}
	for _, v := range views {
		v.Surplus, v.SurplusSum = nil, money.Amount{}
	}
	for _, t := range rows {
		v := views[*t.PaymentID]
		v.Surplus = append(v.Surplus, t)
		// The payment may have ended since its other transfers were read.
		v.Transfers = slices.DeleteFunc(v.Transfers, func(one models.Transfer) bool { return one.ID == t.ID })
	}
	sums, err := SumSurplus(tx, ids)
	for id, sum := range sums {
		views[id].SurplusSum = sum
	}
	return err
}

// SumSurplus returns how much surplus of payments is owed back: it is confirmed, attached to no
// payment and not refunded: completed sends of a part count. Payments without any are left out.
func SumSurplus(tx *models.Tx, payments []int64) (map[int64]money.Amount, error) {
	var rows []struct {
		PaymentID int64
		Sum       models.AmountSum
	}
	owed := func() *models.Tx {
		return selectSurplus(models.Among(tx.Model(&models.Transfer{}), "payment_id", payments)).
			Where("resolution = '' AND height IS NOT NULL AND NOT gone AND NOT reverted")
	}
	err := models.Select(owed().Group("payment_id"), "payment_id, "+models.SumAmounts(tx, "amount")+" AS sum").
		Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	sent, err := refund.SumSent(tx, owed().Select("id"))
	sums := make(map[int64]money.Amount, len(rows))
	for _, r := range rows {
		sums[r.PaymentID] = r.Sum.Amount.Sub(sent[r.PaymentID])
	}
	return sums, err
}

// markSurplus stores that an ended payment did not need these transfers. One that a person had attached to it is open
// again; the audit log and the timeline keep that it was attached.
func markSurplus(tx *models.Tx, now time.Time, v *View, surplus []models.Transfer) error {
	if len(surplus) == 0 {
		return nil
	}
	v.hasSurplus, v.extrasRead = true, false
	ids := make([]int64, 0, len(surplus))
	for _, t := range surplus {
		ids = append(ids, t.ID)
	}
	if err := models.Among(tx.Where("kind = ?", Attached), "transfer_id", ids).
		Delete(&models.Resolution{}).Error; err != nil {
		return err
	}
	return models.Among(tx.Model(&models.Transfer{}), "id", ids).
		Updates(map[string]any{"unmatched": Surplus, "resolution": "", "updated_at": now}).Error
}

// writeSurplus adds the transfers that an ended payment did not need to its timeline, and sends
// the events.
func (s *Service) writeSurplus(tx *models.Tx, v *View, surplus []models.Transfer) error {
	if len(surplus) == 0 {
		return nil
	}
	var steps []models.Step
	var events [][]string
	var noted error
	for _, t := range surplus {
		steps = append(steps, s.NumberStep(v, models.Step{Kind: StepTransfer, From: v.Payment.Status,
			To: v.Payment.Status, Remark: "The payment did not need this transfer: " + t.FormatAmount() +
				". It is listed under Unmatched.",
			Reason: Surplus, Detail: timeline.WriteDetail("", map[string]any{"hash": t.TxID, "index": t.Index,
				"amount": t.Amount.String(), "asset": t.Asset})}))
		events = AddReport(events, t.TxID)
		noted = errors.Join(noted, notification.NoteUnmatched(tx, t, s.Clock()))
	}
	if err := errors.Join(noted, tx.Create(steps).Error); err != nil {
		return err
	}
	for _, hashes := range events {
		if err := s.EmitEvent(tx, v, webhook.PaymentUnexpectedTransfer, strings.Join(hashes, " ")); err != nil {
			return err
		}
	}
	return nil
}

// maxReports bounds the events of one kind that a block, a snapshot or an end makes for one
// payment. The last of them reports all further transactions, because each would otherwise let
// a sender of dust make an event.
const maxReports = 10

// AddReport adds a transaction to the lists of transactions that events report, one list for
// each event. A transaction is reported once.
func AddReport(events [][]string, hash string) [][]string {
	last := len(events) - 1
	switch {
	case last >= 0 && events[last][len(events[last])-1] == hash:
	case len(events) == maxReports:
		events[last] = append(events[last], hash)
	default:
		events = append(events, []string{hash})
	}
	return events
}
