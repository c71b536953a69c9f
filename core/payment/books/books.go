// Package books books the transfers that a network's follower changed, and what releases without
// books recorded.
package books

import (
	"context"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/payment"
	"cointill/models"
)

// unbookedTransfers selects the first transfers of a network whose place in the books isn't where
// the chain shows them: confirmed ones that no account holds, and others that one does. It has
// the condition of the index transfers_unbooked, word for word.
const unbookedTransfers = "network = ? AND business_id <> 0 AND " +
	"(height IS NOT NULL AND NOT gone AND NOT reverted AND (booked = '' OR booked = 'reversed') OR " +
	"(height IS NULL OR gone OR reverted) AND booked <> '' AND booked <> 'reversed' AND booked <> 'none') " +
	"ORDER BY id LIMIT ?"

// bookBatch is how many transfers are read at once to book them.
const bookBatch = 500

// BookTransfers books the transfers of a network that were confirmed, or lost their
// confirmation, in this transaction. An entry has the day on which that was learnt.
func BookTransfers(tx *models.Tx, now time.Time, network string) error {
	for {
		moves, err := listMoves(tx, network, func(models.Transfer, models.Payment) time.Time { return now })
		if err != nil {
			return err
		}
		if err := journal.MoveTransfers(tx, now, moves); err != nil || len(moves) < bookBatch {
			return err
		}
	}
}

// listMoves returns the moves of a network's next transfers that aren't booked where the chain
// shows them. at returns the time of a move's fact.
func listMoves(tx *models.Tx, network string,
	at func(t models.Transfer, p models.Payment) time.Time) ([]journal.Move, error) {
	statement := "SELECT id FROM transfers WHERE " + unbookedTransfers
	if !models.IsPostgres(tx) { // SQLite guesses that a network's index finds as few
		statement = "SELECT id FROM transfers INDEXED BY transfers_unbooked WHERE " + unbookedTransfers
	}
	var id int64
	var ids []int64 // mostly none
	err := models.ScanRows(tx.Raw(statement, network, bookBatch), func() { ids = append(ids, id) }, &id)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var transfers []models.Transfer
	if err := models.Among(tx, "id", ids).Order("id").Find(&transfers).Error; err != nil {
		return nil, err
	}
	views, err := payment.ReadOwners(tx, transfers)
	if err != nil {
		return nil, err
	}
	moves, shares := make([]journal.Move, len(transfers)), payment.Shares{}
	for i := range transfers {
		t := &transfers[i]
		moves[i] = views[i].FindMove(t, at(*t, views[i].Payment))
		shares.SetValue(&views[i], &moves[i])
	}
	return moves, nil
}

// BookTransfer books one transfer where the chain shows it, before its row is changed.
func BookTransfer(tx *models.Tx, now time.Time, t models.Transfer) error {
	views, err := payment.ReadOwners(tx, []models.Transfer{t})
	if err != nil {
		return err
	}
	return journal.MoveTransfers(tx, now, []journal.Move{views[0].FindMove(&t, now)})
}

// ListCounted returns the transfers that were ever booked as sales or declined money of a payment, with
// transfers that have left the chain since.
func ListCounted(tx *models.Tx, paymentID int64) (map[int64]bool, error) {
	var ids []int64
	err := tx.Model(&models.JournalEntry{}).Where("payment_id = ? AND transfer_id IS NOT NULL AND credit IN ?", paymentID,
		[]journal.Account{journal.Sales, journal.Declined}).Distinct().Pluck("transfer_id", &ids).Error
	counted := make(map[int64]bool, len(ids))
	for _, id := range ids {
		counted[id] = true
	}
	return counted, err
}

// UnbookTransfer takes a transfer out of the books, before its row is overwritten.
func UnbookTransfer(tx *models.Tx, now time.Time, t *models.Transfer) error {
	views, err := payment.ReadOwners(tx, []models.Transfer{*t})
	if err != nil {
		return err
	}
	err = journal.MoveTransfers(tx, now, []journal.Move{views[0].DescribeMove(t, journal.Nowhere, now)})
	t.Booked, t.BookedValue = "", 0
	return err
}

// PrepareBooks books what releases without books recorded: transfers on the days on which they
// came or their payments ended, and refunds. It does nothing once that is done. report gets
// the number of booked transfers.
func PrepareBooks(ctx context.Context, db *models.DB, now clock.Clock, report func(booked int)) error {
	var networks []string
	if err := db.Read(ctx).Model(&models.ChainCursor{}).Pluck("network", &networks).Error; err != nil {
		return err
	}
	booked := 0
	for _, network := range networks {
		for {
			count := 0
			err := db.Write(ctx, func(tx *models.Tx) error {
				moves, err := listMoves(tx, network, recordedAt)
				if count = len(moves); err != nil {
					return err
				}
				return journal.MoveTransfers(tx, now(), moves)
			})
			if err != nil {
				return err
			}
			if count == 0 {
				break
			}
			booked += count
			report(booked)
		}
	}
	if err := bookReversals(ctx, db, now); err != nil {
		return err
	}
	return bookRefunds(ctx, db, now)
}

// bookReversals books the money of Successful payments that had left the chain before there
// were books: as a sale when its payment ended, and as reversed when it left.
func bookReversals(ctx context.Context, db *models.DB, now clock.Clock) error {
	for after := int64(0); ; {
		var payments []models.Payment
		if err := db.Read(ctx).Where("reversed AND id > ?", after).Order("id").Limit(bookBatch).
			Find(&payments).Error; err != nil || len(payments) == 0 {
			return err
		}
		if err := db.Write(ctx, func(tx *models.Tx) error {
			for _, p := range payments {
				if err := bookReversal(tx, now(), p); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		after = payments[len(payments)-1].ID
	}
}

func bookReversal(tx *models.Tx, now time.Time, p models.Payment) error {
	var transfers []models.Transfer
	// A transfer that was dropped is the least likely one to have paid.
	if err := tx.Where("payment_id = ? AND unmatched = ''", p.ID).Order("CASE gone_reason WHEN 'dropped' THEN 1 ELSE 0 END, id").
		Find(&transfers).Error; err != nil {
		return err
	}
	views, err := payment.ReadOwners(tx, transfers)
	if err != nil {
		return err
	}
	missing := p.Paid
	for _, t := range transfers {
		if t.Booked != "" {
			missing = missing.Sub(t.Amount)
		}
	}
	var sold, left []journal.Move
	for i := range transfers {
		t := &transfers[i]
		if t.Booked == "" && t.Amount.Sign() > 0 && t.Amount.Cmp(missing) <= 0 {
			missing = missing.Sub(t.Amount)
			sold = append(sold, views[i].DescribeMove(t, journal.Sales, recordedAt(*t, p)))
			left = append(left, views[i].DescribeMove(t, journal.Reversed, t.UpdatedAt))
		}
	}
	if err := journal.MoveTransfers(tx, now, sold); err != nil {
		return err
	}
	return journal.MoveTransfers(tx, now, left)
}

// recordedAt returns when a transfer's payment ended, or when the transfer came where there is
// no such time.
func recordedAt(t models.Transfer, p models.Payment) time.Time {
	if p.SettledAt != nil && t.Unmatched == "" {
		return p.SettledAt.Add(-payment.ClockAdvance(p))
	}
	return t.CreatedAt
}

// bookRefunds books the refunds that releases without books recorded.
func bookRefunds(ctx context.Context, db *models.DB, now clock.Clock) error {
	for after := int64(0); ; {
		var rows []models.Resolution
		err := db.Read(ctx).Where("kind = ? AND send_id IS NULL AND id > ? AND NOT EXISTS (SELECT 1 FROM journal_entries "+
			"WHERE resolution_id = resolutions.id)", payment.Refunded, after).Order("id").Limit(bookBatch).
			Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := db.Write(ctx, func(tx *models.Tx) error {
			for _, r := range rows {
				if err := payment.BookRefund(tx, now(), r); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}
