package journal

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// Entry is an entry with the references of its payment and its send, and the hash of the transaction that
// moved the money; "" where there is none.
type Entry struct {
	models.JournalEntry
	Payment, Send, Hash string
	// IsPayout says that the send is a payout; a send of other entries is a refund.
	IsPayout bool
}

// ListEntries lists the entries of a period, oldest first. next is the After of the next page, 0
// at the end. Faults: as ReadStatement.
func (s *Service) ListEntries(ctx context.Context, sc scope.Scope, f Filter) (list []Entry, next int64, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, 0, err
	}
	if err := f.checkPeriod(); err != nil {
		return nil, 0, err
	}
	limit := min(max(f.Limit, 1), 100)
	tx := s.DB.List(ctx)
	if list, err = readEntries(tx, sc, f, limit+1); err == nil {
		err = addHashes(tx, sc, list)
	}
	if len(list) > limit {
		list, next = list[:limit], list[limit-1].ID
	}
	return list, next, err
}

// exportBatch is how many entries an export reads at once.
const exportBatch = 1000

// ExportEntries hands over the entries of a filter in batches, in the order of their numbers, as
// of one moment. Faults: as ReadStatement.
func (s *Service) ExportEntries(ctx context.Context, sc scope.Scope, f Filter, batch func([]Entry) error) error {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return err
	}
	if err := f.checkPeriod(); err != nil {
		return err
	}
	return s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		for {
			list, err := readEntries(tx, sc, f, exportBatch)
			if err != nil || len(list) == 0 {
				return err
			}
			if err := addHashes(tx, sc, list); err != nil {
				return err
			}
			if err := batch(list); err != nil {
				return err
			}
			f.After = list[len(list)-1].ID
		}
	})
}

// readEntries reads entries with what closing a month seals: addHashes adds hashes that can change.
func readEntries(tx *models.Tx, sc scope.Scope, f Filter, limit int) ([]Entry, error) {
	var rows []models.JournalEntry
	query := f.narrowToPeriod(sc.Rows(tx).Where("id > ?", f.After))
	if err := query.Order("id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	return nameEntries(tx, sc, rows)
}

// nameEntries reads the references of entries, and the hashes of transfers and of what the owner moved.
func nameEntries(tx *models.Tx, sc scope.Scope, rows []models.JournalEntry) ([]Entry, error) {
	var paymentIDs, transferIDs, sendIDs, departureIDs []int64
	for _, e := range rows {
		if e.SendID != nil {
			sendIDs = append(sendIDs, *e.SendID)
		}
		if e.PaymentID != nil {
			paymentIDs = append(paymentIDs, *e.PaymentID)
		}
		if e.TransferID != nil {
			transferIDs = append(transferIDs, *e.TransferID)
		}
		if e.DepartureID != nil {
			departureIDs = append(departureIDs, *e.DepartureID)
		}
	}
	references, err := readNames(tx, sc, &models.Payment{}, "reference", paymentIDs)
	if err != nil {
		return nil, err
	}
	hashes, err := readHashes(tx, sc, transferIDs)
	if err != nil {
		return nil, err
	}
	sends, err := readNames(tx, sc, &models.Send{}, "reference", sendIDs)
	if err != nil {
		return nil, err
	}
	left, err := readNames(tx, sc, &models.Departure{}, "tx_id", departureIDs)
	if err != nil {
		return nil, err
	}
	list := make([]Entry, len(rows))
	for i, e := range rows {
		list[i].JournalEntry = e
		if e.SendID != nil {
			list[i].Send = sends[*e.SendID]
		}
		if e.PaymentID != nil {
			list[i].Payment = references[*e.PaymentID]
		}
		if e.TransferID != nil {
			list[i].Hash = hashes[*e.TransferID]
		}
		if e.DepartureID != nil {
			list[i].Hash = left[*e.DepartureID]
		}
	}
	return list, nil
}

// ListLate lists at most limit facts of a closed period that were booked after it, by the day on
// which they were booked. Faults: as ReadStatement.
func (s *Service) ListLate(ctx context.Context, sc scope.Scope, p Period, limit int) (list []Entry, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, err
	}
	if err := p.checkPeriod(); err != nil {
		return nil, err
	}
	err = s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		var rows []models.JournalEntry
		err := sc.Rows(tx).Where("happened_on <> booked_on AND happened_on >= ? AND happened_on <= ?", p.From, p.To).
			Where("booked_on > ?", p.To).Order("booked_on, id").Limit(limit).Find(&rows).Error
		if err == nil {
			list, err = nameEntries(tx, sc, rows)
		}
		if err == nil {
			err = addHashes(tx, sc, list)
		}
		return err
	})
	return list, err
}

// readHashes returns the hashes of transfers by id, without those that only a balance shows.
func readHashes(tx *models.Tx, sc scope.Scope, ids []int64) (map[int64]string, error) {
	hashes := map[int64]string{}
	if len(ids) == 0 {
		return hashes, nil
	}
	var rows []models.Transfer
	err := models.Among(sc.Rows(tx).Select("id, tx_id, height, address"), "id", ids).Find(&rows).Error
	for _, row := range rows {
		if !row.ShownByBalance() {
			hashes[row.ID] = row.TxID
		}
	}
	return hashes, err
}

// readNames reads a column of the scope's rows, by their numbers.
func readNames(tx *models.Tx, sc scope.Scope, table any, column string, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if len(ids) == 0 {
		return names, nil
	}
	var rows []struct {
		ID   int64
		Name string
	}
	err := models.Among(sc.Rows(tx.Model(table)).Select("id, "+column+" AS name"), "id", ids).Find(&rows).Error
	for _, row := range rows {
		names[row.ID] = row.Name
	}
	return names, err
}
