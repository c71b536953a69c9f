package journal

import (
	"cmp"
	"slices"

	"cointill/core/scope"
	"cointill/core/send/request"
	"cointill/models"
)

// addHashes adds the hashes of refunds that people recorded, and of sends, to entries. They aren't sealed
// with a month, as another transaction can pay a send later.
func addHashes(tx *models.Tx, sc scope.Scope, list []Entry) error {
	var refundIDs, sendIDs []int64
	for _, e := range list {
		if e.ResolutionID != nil {
			refundIDs = append(refundIDs, *e.ResolutionID)
		}
		if e.SendID != nil {
			sendIDs = append(sendIDs, *e.SendID)
		}
	}
	refunds, err := readNames(tx, sc, &models.Resolution{}, "tx_id", refundIDs)
	if err != nil {
		return err
	}
	sends, err := readPaidSends(tx, sc, sendIDs)
	for i := range list {
		e := &list[i]
		if e.ResolutionID != nil {
			e.Hash = cmp.Or(refunds[*e.ResolutionID], e.Hash)
		}
		if e.SendID != nil {
			send := sends[*e.SendID]
			e.Hash, e.IsPayout = send.chooseHash(e.Kind), send.isPayout
		}
	}
	return err
}

// paidSend is a send with the hashes of its transactions.
type paidSend struct {
	isPayout bool
	hash     string   // of the transaction that pays it; "" for none
	seen     []string // of all its transactions
}

// chooseHash returns the hash of an entry of a kind: of the transaction that pays the send, and for a second one and
// for fees the only one that it can be; "" where that isn't known.
func (s paidSend) chooseHash(kind string) string {
	seen := s.seen
	switch kind {
	case SentTwice, SentOnce:
		seen = slices.DeleteFunc(slices.Clone(seen), func(hash string) bool { return hash == s.hash })
	case FeePaid, FeeUnpaid:
	default:
		return s.hash
	}
	if len(seen) == 1 {
		return seen[0]
	}
	return ""
}

// readPaidSends reads the scope's sends by their numbers, with their transactions.
func readPaidSends(tx *models.Tx, sc scope.Scope, ids []int64) (map[int64]paidSend, error) {
	sends := map[int64]paidSend{}
	if len(ids) == 0 {
		return sends, nil
	}
	var rows []models.Send
	if err := models.Among(sc.Rows(tx).Select("id, kind, hash"), "id", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make([]int64, len(rows))
	for i, row := range rows {
		known[i], sends[row.ID] = row.ID, paidSend{isPayout: row.Kind == request.Payout, hash: row.Hash}
	}
	var transfers []models.Transfer
	err := models.Among(tx.Select("send_id, tx_id"), "send_id", known).Order("id").Find(&transfers).Error
	for _, t := range transfers {
		send := sends[*t.SendID]
		if !slices.Contains(send.seen, t.TxID) {
			send.seen = append(send.seen, t.TxID)
		}
		sends[*t.SendID] = send
	}
	return sends, err
}
