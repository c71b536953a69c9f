package payment

import (
	"slices"
	"strings"

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
			t.Unmatched = Surplus
			surplus = append(surplus, t)
		} else {
			kept = append(kept, t)
		}
	}
	v.Transfers = kept
	return surplus
}

// writeSurplus lists the transfers that an ended payment did not need under Unmatched, each
// with a row of the timeline, and sends the events.
func (s *Service) writeSurplus(tx *models.Tx, v *View, surplus []models.Transfer) error {
	if len(surplus) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(surplus))
	var steps []models.Step
	var events [][]string
	for _, t := range surplus {
		ids = append(ids, t.ID)
		steps = append(steps, s.NumberStep(v, models.Step{Kind: StepTransfer, From: v.Payment.Status,
			To: v.Payment.Status, Remark: "The payment did not need this transfer: " + formatAmount(t) +
				". It is listed under Unmatched.",
			Reason: Surplus, Detail: StepDetail(map[string]any{"hash": t.TxID, "index": t.Index,
				"amount": t.Amount.String(), "asset": t.Asset})}))
		events = AddReport(events, t.TxID)
	}
	if err := models.Among(tx.Model(&models.Transfer{}), "id", ids).
		Updates(map[string]any{"unmatched": Surplus, "updated_at": s.Clock()}).Error; err != nil {
		return err
	}
	if err := tx.Create(steps).Error; err != nil {
		return err
	}
	for _, hashes := range events {
		if err := s.EmitEvent(tx, v, webhook.PaymentUnexpectedTransfer, strings.Join(hashes, " ")); err != nil {
			return err
		}
	}
	return s.SavePayment(tx, v)
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
