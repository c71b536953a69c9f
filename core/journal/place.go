package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/models"
)

// place is where the books hold a transfer, and the value with which they do.
type place struct {
	Booked      string
	BookedValue int64
}

// change is a move whose transfer leaves a place for another one.
type change struct {
	move     Move
	from, to place
}

// moving is a run of MoveTransfers.
type moving struct {
	tx     *models.Tx
	stored []change         // the changes that were stored
	open   map[books]string // the first open days of their books
}

// MoveTransfers posts an entry for each transfer whose place changes, and stores the places.
// Call it in the transaction that records why they change. A caller may have read the transfers
// before: one that has another place by now is read again under a lock.
func MoveTransfers(tx *models.Tx, now time.Time, moves []Move) error {
	known := make(map[int64]place, len(moves))
	for _, m := range moves {
		known[m.Transfer.ID] = place{m.Transfer.Booked, m.Transfer.BookedValue}
	}
	run := moving{tx: tx, open: map[books]string{}}
	changes, left := planChanges(known, moves)
	missed, err := run.storePlaces(changes)
	if err != nil {
		return err
	}
	if left = append(left, missed...); len(left) > 0 {
		if known, err = lockPlaces(tx, left); err != nil {
			return err
		}
		changes, _ = planChanges(known, left)
		if missed, err = run.storePlaces(changes); err != nil {
			return err
		}
		if len(missed) > 0 {
			return fmt.Errorf("journal: transfer %d left its place while it was locked", missed[0].Transfer.ID)
		}
	}
	return postChanges(tx, now, run.stored, run.open)
}

// SetPlace gives a transfer that no account holds the place to which the move takes it. The caller
// stores it, and posts the move by PostArrivals.
func (m Move) SetPlace(t *models.Transfer) {
	to := m.findPlace(place{})
	t.Booked, t.BookedValue = to.Booked, to.BookedValue
}

// PostArrivals posts an entry for each transfer that was stored with the place of its move. Call it
// in the transaction that stored them.
func PostArrivals(tx *models.Tx, now time.Time, moves []Move) error {
	changes, _ := planChanges(nil, moves)
	return postChanges(tx, now, changes, map[books]string{})
}

// postChanges posts the entries of changes that are stored.
func postChanges(tx *models.Tx, now time.Time, changes []change, open map[books]string) error {
	entries := make([]models.JournalEntry, 0, len(changes))
	for _, c := range changes {
		entries = c.appendEntries(entries)
	}
	if err := countOnce(tx, entries); err != nil {
		return err
	}
	return postEntries(tx, now, entries, open)
}

// planChanges returns the changes that moves make from known places, and the moves that change
// nothing.
func planChanges(known map[int64]place, moves []Move) (changes []change, unchanged []Move) {
	changes = make([]change, 0, len(moves))
	for _, m := range moves {
		from := known[m.Transfer.ID]
		if from.Booked == string(m.To) {
			unchanged = append(unchanged, m)
			continue
		}
		changes = append(changes, change{m, from, m.findPlace(from)})
	}
	return changes, unchanged
}

// findPlace returns the place to which a move takes a transfer.
func (m Move) findPlace(from place) place {
	if !m.To.holdsMoney() || from.Booked == string(Reversed) { // it goes and returns with the value that it had
		return place{string(m.To), from.BookedValue}
	}
	return place{string(m.To), m.Value}
}

// appendEntries adds the entries of a change. Money leaves an account with the value with which it is held there. Where
// another account takes it for another payment or with another value, it goes there by way of Pending, which has no
// figure by currency.
func (c change) appendEntries(entries []models.JournalEntry) []models.JournalEntry {
	from, to := Account(c.from.Booked), c.move.To
	debit, credit, ok := findEntry(from, to)
	if !ok {
		return entries
	}
	m := c.move
	m.Value = c.to.BookedValue
	if from == Reversed {
		m.Due = 0 // its sale is counted
	}
	keeps := m.Held == nil && c.from.BookedValue == c.to.BookedValue
	if !from.holdsMoney() || !to.holdsMoney() || from == Pending || keeps && to != Pending {
		return append(entries, m.describeEntry(debit, credit))
	}
	released := m.describeEntry(from, Pending)
	released.Value, released.Due = c.from.BookedValue, 0
	if m.Held != nil {
		released.PaymentID, released.Currency = m.Held.PaymentID, m.Held.Currency
	}
	if entries = append(entries, released); to == Pending {
		return entries
	}
	return append(entries, m.describeEntry(Pending, to))
}

// storePlaces stores the places that transfers have after changes, unless a transfer has another
// place than its change begins at: it returns the moves of these. The same statement reads the last
// closed month.
func (r *moving) storePlaces(changes []change) (missed []Move, err error) {
	for some := range slices.Chunk(changes, rowsAtOnce) {
		closed, err := storeSome(r.tx, some)
		if err != nil {
			return nil, err
		}
		for _, c := range some {
			month, stored := closed[c.move.Transfer.ID]
			if !stored {
				missed = append(missed, c.move)
				continue
			}
			of, first := books{c.move.Transfer.BusinessID, c.move.Transfer.Domain}, ""
			if month != "" {
				if first, err = dayAfter(month); err != nil {
					return nil, err
				}
			}
			r.stored, r.open[of] = append(r.stored, c), first
		}
	}
	return missed, nil
}

// storeSome stores the places of a few transfers. It returns the last closed month of each that had
// its place, "" where none is closed. The rows are values of the statement, as PostgreSQL reads all
// transfers for a list whose length it doesn't know.
func storeSome(tx *models.Tx, changes []change) (closed map[int64]string, err error) {
	values := make([]any, 0, len(changes)*strings.Count(placeRow, "?"))
	for _, c := range changes {
		values = append(values, c.move.Transfer.ID, c.from.Booked, c.from.BookedValue, c.to.Booked, c.to.BookedValue)
	}
	statement := "WITH m (id, was, held, becomes, holds) AS (VALUES " + repeatRow(placeRow, len(changes)) + ") " +
		storePlaces
	closed = make(map[int64]string, len(changes))
	var id int64
	var month string
	err = models.ScanRows(tx.Raw(statement, values...), func() { closed[id] = month }, &id, &month)
	return closed, err
}

const (
	placeRow = "(CAST(? AS bigint), CAST(? AS text), CAST(? AS bigint), CAST(? AS text), CAST(? AS bigint))"
	// storePlaces stores the places in m.
	storePlaces = `UPDATE transfers SET booked = becomes, booked_value = holds FROM m
		WHERE transfers.id = m.id AND booked = was AND booked_value = held
		RETURNING transfers.id AS id, COALESCE((SELECT MAX(month) FROM closed_months AS c
		WHERE c.business_id = transfers.business_id AND c.domain = transfers.domain), '') AS closed`
)

// rowsAtOnce is how many rows a statement writes: databases bound the values of a statement.
const rowsAtOnce = 50

// repeatRow returns the values of n rows, with commas between.
func repeatRow(row string, n int) string {
	return strings.TrimSuffix(strings.Repeat(row+", ", n), ", ")
}

// lockPlaces reads the places of transfers and locks their rows. On SQLite the transaction
// holds the only writer.
func lockPlaces(tx *models.Tx, moves []Move) (map[int64]place, error) {
	ids := make([]int64, len(moves))
	for i, m := range moves {
		ids[i] = m.Transfer.ID
	}
	query := models.Among(tx.Select("id", "booked", "booked_value"), "id", ids).Order("id")
	var rows []models.Transfer
	if err := query.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Find(&rows).Error; err != nil {
		return nil, err
	}
	places := make(map[int64]place, len(rows))
	for _, t := range rows {
		places[t.ID] = place{t.Booked, t.BookedValue}
	}
	return places, nil
}
