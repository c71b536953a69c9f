package payment

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
)

// unbookedTransfers selects the transfers of a network whose place in the books isn't where
// the chain shows them: confirmed ones that no account holds, and others that one does. It is
// the condition of the index transfers_unbooked, word for word.
const unbookedTransfers = "network = ? AND business_id <> 0 AND (height IS NOT NULL AND NOT gone AND NOT reverted AND " +
	"(booked = '' OR booked = 'reversed') OR (height IS NULL OR gone OR reverted) AND booked <> '' AND " +
	"booked <> 'reversed' AND booked <> 'returned' AND booked <> 'none')"

// bookBatch is how many transfers are read at once to book them.
const bookBatch = 500

// findAccount returns the place of a transfer in the books, by its payment's state; "" for
// no payment.
func findAccount(t models.Transfer, state State) journal.Account {
	confirmed := t.Height != nil && !t.Gone && !t.Reverted
	sold := t.Booked == string(journal.Sales) || t.Booked == string(journal.Reversed)
	switch {
	case t.Booked == string(journal.Returned):
		return journal.Returned
	case !confirmed && sold && t.Unmatched == "":
		return journal.Reversed
	case !confirmed:
		return journal.Nowhere
	case t.Unmatched == Unproved || !journal.IsBooked(t.Asset, t.Amount):
		return journal.None
	case t.Unmatched != "":
		return journal.Unmatched
	case state == Successful:
		return journal.Sales
	case state.Final() && state != Abandoned:
		return journal.Declined
	}
	return journal.Pending
}

// bookTransfers books transfers of a payment where its state puts them. The values of those that
// go to one account add up to the value of their sum: each has the value of the sum so far, less
// the value of the sum before it.
func bookTransfers(tx *models.Tx, now time.Time, v *View, transfers []models.Transfer) error {
	var moves []journal.Move
	sums := map[journal.Account]money.Amount{}
	for _, t := range transfers {
		to := findAccount(t, v.State())
		if string(to) == t.Booked {
			continue
		}
		m := v.describeMove(t, to, v.Now)
		if m.Currency != "" {
			before := sums[to]
			sums[to] = before.Add(t.Amount)
			m.Value = hundredths(v.Fiat(sums[to])) - hundredths(v.Fiat(before))
		}
		moves = append(moves, m)
	}
	countOnce(moves, map[int64]bool{})
	return journal.MoveTransfers(tx, now, moves)
}

// countOnce leaves the amount due of a payment to the first of the moves that make it a sale, and
// to none where its sale is booked already.
func countOnce(moves []journal.Move, sold map[int64]bool) {
	for i, m := range moves {
		if m.To == journal.Sales {
			if sold[*m.Transfer.PaymentID] {
				moves[i].Due = 0
			}
			sold[*m.Transfer.PaymentID] = true
		}
	}
}

// readSold returns which payments of moves have a sale in the books.
func readSold(tx *models.Tx, moves []journal.Move) (map[int64]bool, error) {
	var asked, found []int64
	for _, m := range moves {
		if m.To == journal.Sales {
			asked = append(asked, *m.Transfer.PaymentID)
		}
	}
	sold := map[int64]bool{}
	if len(asked) == 0 {
		return sold, nil
	}
	err := models.Among(tx.Model(&models.JournalEntry{}).Distinct().Where("due > 0"), "payment_id", asked).
		Pluck("payment_id", &found).Error
	for _, id := range found {
		sold[id] = true
	}
	return sold, err
}

// describeMove returns the move of one of the payment's transfers, at the locked rate.
func (v *View) describeMove(t models.Transfer, to journal.Account, at time.Time) journal.Move {
	m := journal.Move{Transfer: t, To: to, At: at, Zone: v.Business.TimeZone}
	if t.Asset == v.Payment.Coin {
		m.Currency, m.Value = v.Payment.Currency, hundredths(v.Fiat(t.Amount))
	}
	if to == journal.Sales {
		m.Due = 100 * v.Payment.Amount
	}
	return m
}

// BookTransfers books the transfers of a network that were confirmed, or lost their
// confirmation, in this transaction. An entry has the day on which that was learnt.
func BookTransfers(tx *models.Tx, now time.Time, network string) error {
	for {
		moves, err := listMoves(tx, network, func(models.Transfer, models.Payment) time.Time { return now })
		if err != nil || len(moves) == 0 {
			return err
		}
		if err := journal.MoveTransfers(tx, now, moves); err != nil {
			return err
		}
	}
}

// listMoves returns the moves of a network's next transfers that aren't booked where the chain
// shows them. at returns the time of a move's fact.
func listMoves(tx *models.Tx, network string,
	at func(t models.Transfer, p models.Payment) time.Time) ([]journal.Move, error) {
	var transfers []models.Transfer
	query := tx
	if !models.IsPostgres(tx) { // SQLite guesses that a network's index finds as few
		query = tx.Table("transfers INDEXED BY transfers_unbooked")
	}
	err := query.Where(unbookedTransfers, network).Order("id").Limit(bookBatch).Find(&transfers).Error
	if err != nil || len(transfers) == 0 {
		return nil, err
	}
	views, err := readOwners(tx, transfers)
	if err != nil {
		return nil, err
	}
	moves := make([]journal.Move, len(transfers))
	for i, t := range transfers {
		v := views[i]
		moves[i] = v.describeMove(t, findAccount(t, v.State()), at(t, v.Payment).Add(ClockAdvance(v.Payment)))
	}
	sold, err := readSold(tx, moves)
	countOnce(moves, sold)
	return moves, err
}

// UnbookTransfer takes a transfer out of the books, before its row is overwritten.
func UnbookTransfer(tx *models.Tx, now time.Time, t *models.Transfer) error {
	views, err := readOwners(tx, []models.Transfer{*t})
	if err != nil {
		return err
	}
	err = journal.MoveTransfers(tx, now, []journal.Move{views[0].describeMove(*t, journal.Nowhere, now)})
	t.Booked, t.BookedValue = "", 0
	return err
}

// readOwners returns for each transfer a view with what the books need of its payment and its
// business.
func readOwners(tx *models.Tx, transfers []models.Transfer) ([]View, error) {
	var ofPayments, ofBusinesses []int64
	for _, t := range transfers {
		if t.PaymentID != nil {
			ofPayments = append(ofPayments, *t.PaymentID)
		}
		ofBusinesses = append(ofBusinesses, t.BusinessID)
	}
	payments, businesses := map[int64]models.Payment{}, map[int64]models.Business{}
	if len(ofPayments) > 0 {
		var rows []models.Payment
		if err := models.Among(tx.Select("id", "status", "currency", "amount", "coin", "due", "advanced", "settled_at",
			"network"), "id", ofPayments).Find(&rows).Error; err != nil {
			return nil, err
		}
		for _, p := range rows {
			payments[p.ID] = p
		}
	}
	var rows []models.Business
	if err := models.Among(tx.Select("id", "time_zone"), "id", ofBusinesses).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, b := range rows {
		businesses[b.ID] = b
	}
	views := make([]View, len(transfers))
	for i, t := range transfers {
		views[i].Business = businesses[t.BusinessID]
		if t.PaymentID != nil {
			views[i].Payment = payments[*t.PaymentID]
		}
	}
	return views, nil
}

// PrepareBooks books what releases without books recorded: transfers on the days on which they
// came or their payments ended, and refunds. It does nothing once that is done. report is told
// how many transfers are booked.
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
	if err := tx.Where("payment_id = ? AND unmatched = ''", p.ID).Order("id").Find(&transfers).Error; err != nil ||
		len(transfers) == 0 {
		return err
	}
	views, err := readOwners(tx, transfers)
	if err != nil {
		return err
	}
	v, missing := views[0], p.Paid
	for _, t := range transfers {
		if t.Booked != "" {
			missing = missing.Sub(t.Amount)
		}
	}
	var sold, left []journal.Move
	for _, t := range transfers {
		if t.Booked == "" && t.Amount.Sign() > 0 && t.Amount.Cmp(missing) <= 0 {
			missing = missing.Sub(t.Amount)
			sold = append(sold, v.describeMove(t, journal.Sales, recordedAt(t, p)))
			left = append(left, v.describeMove(t, journal.Reversed, t.UpdatedAt))
		}
	}
	known, err := readSold(tx, sold)
	if err != nil {
		return err
	}
	countOnce(sold, known)
	if err := journal.MoveTransfers(tx, now, sold); err != nil {
		return err
	}
	return journal.MoveTransfers(tx, now, left)
}

// recordedAt returns when a transfer's payment ended, or when the transfer came where there is
// no such time.
func recordedAt(t models.Transfer, p models.Payment) time.Time {
	if p.SettledAt != nil && t.Unmatched == "" {
		return p.SettledAt.Add(-ClockAdvance(p))
	}
	return t.CreatedAt
}

// bookRefunds books the refunds that releases without books recorded.
func bookRefunds(ctx context.Context, db *models.DB, now clock.Clock) error {
	for after := int64(0); ; {
		var rows []models.Resolution
		err := db.Read(ctx).Where("kind = ? AND id > ? AND NOT EXISTS (SELECT 1 FROM journal_entries "+
			"WHERE resolution_id = resolutions.id)", Refunded, after).Order("id").Limit(bookBatch).Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := db.Write(ctx, func(tx *models.Tx) error {
			for _, r := range rows {
				if err := bookRefund(tx, now(), r); err != nil {
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

// bookRefund books a refund: of a whole transfer, or of a payment.
func bookRefund(tx *models.Tx, now time.Time, r models.Resolution) error {
	t := models.Transfer{BusinessID: r.BusinessID, PaymentID: r.PaymentID}
	if r.TransferID != nil {
		if err := tx.Where("id = ?", *r.TransferID).Take(&t).Error; err != nil {
			return err
		}
	}
	views, err := readOwners(tx, []models.Transfer{t})
	if err != nil {
		return err
	}
	v := &views[0]
	if r.TransferID != nil {
		m := v.describeMove(t, journal.Returned, r.CreatedAt)
		m.ResolutionID = &r.ID
		return journal.MoveTransfers(tx, now, []journal.Move{m})
	}
	return v.postRefund(tx, now, r)
}

// postRefund books a refund of the payment.
func (v *View) postRefund(tx *models.Tx, now time.Time, r models.Resolution) error {
	from := journal.Declined
	if v.State() == Successful {
		from = journal.Refunds
	}
	return journal.PostRefund(tx, now, journal.Refund{Resolution: r, Network: v.Payment.Network, From: from,
		Currency: v.Payment.Currency, Value: hundredths(v.Fiat(r.Amount)), Zone: v.Business.TimeZone})
}

// hundredths returns a value with two decimals as a number of hundredths.
func hundredths(value decimal.Decimal) int64 { return value.Shift(2).IntPart() }
