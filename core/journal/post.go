package journal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/models"
)

// Move says where the money of a transfer stands now.
type Move struct {
	Transfer models.Transfer // ID, owner, network, asset, amount and payment
	To       Account
	Currency string    // of Value; "" where no rate was locked
	Value    int64     // hundredths of Currency
	At       time.Time // of the fact
	Zone     string    // of the business
	// Due is the amount due of the payment that the move makes a sale, in hundredths of Currency.
	// Of several moves for one payment, one has it.
	Due int64
	// ResolutionID is the refund that a person recorded; nil for other moves.
	ResolutionID *int64
}

// MoveTransfers posts an entry for each transfer whose place changes, and stores the places.
// Call it in the transaction that records why they change. Places are read under a lock, so a
// caller may have read the transfers before.
func MoveTransfers(tx *models.Tx, now time.Time, moves []Move) error {
	if len(moves) == 0 {
		return nil
	}
	places, err := lockPlaces(tx, moves)
	if err != nil {
		return err
	}
	var entries []models.JournalEntry
	changed := map[place][]int64{}
	for _, m := range moves {
		from := places[m.Transfer.ID]
		to := place{string(m.To), m.Value}
		if from.Booked == to.Booked {
			continue
		}
		if !m.To.holdsMoney() || from.Booked == string(Reversed) { // it goes and returns with the value that it had
			to.BookedValue = from.BookedValue
		}
		changed[to] = append(changed[to], m.Transfer.ID)
		if debit, credit, ok := findEntry(Account(from.Booked), m.To); ok {
			m.Value = to.BookedValue
			if from.Booked == string(Reversed) {
				m.Due = 0 // its sale is counted
			}
			entries = append(entries, m.describeEntry(debit, credit))
		}
	}
	if err := countOnce(tx, entries); err != nil {
		return err
	}
	if err := postEntries(tx, now, entries); err != nil {
		return err
	}
	for to, ids := range changed {
		if err := models.Among(tx.Model(&models.Transfer{}), "id", ids).
			UpdateColumns(map[string]any{"booked": to.Booked, "booked_value": to.BookedValue}).Error; err != nil {
			return err
		}
	}
	return nil
}

// countOnce leaves the amount due of a payment to the first entry that makes it a sale, and to
// none where its sale is booked already.
func countOnce(tx *models.Tx, entries []models.JournalEntry) error {
	var asked, found []int64
	for _, e := range entries {
		if e.Due > 0 && e.Debit == string(Wallet) { // no entry has shown it to be a payment's yet
			asked = append(asked, *e.PaymentID)
		}
	}
	if len(asked) > 0 {
		if err := models.Among(tx.Model(&models.JournalEntry{}).Distinct().Where("due > 0"), "payment_id", asked).
			Pluck("payment_id", &found).Error; err != nil {
			return err
		}
	}
	for i, e := range entries {
		if e.Due == 0 {
			continue
		}
		if slices.Contains(found, *e.PaymentID) {
			entries[i].Due = 0
		}
		found = append(found, *e.PaymentID)
	}
	return nil
}

// place is where the books hold a transfer, and the value with which they do.
type place struct {
	Booked      string
	BookedValue int64
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

// describeEntry returns the entry of a move.
func (m Move) describeEntry(debit, credit Account) models.JournalEntry {
	t := m.Transfer
	return models.JournalEntry{BusinessID: t.BusinessID, Domain: t.Domain, HappenedOn: dayIn(m.At, m.Zone),
		Kind: kindOf(debit, credit, m.ResolutionID != nil), Due: m.Due, Debit: string(debit),
		Credit: string(credit), Coin: t.Asset, Network: t.Network, Amount: t.Amount,
		Currency: m.Currency, Value: m.Value, PaymentID: t.PaymentID, TransferID: &t.ID,
		ResolutionID: m.ResolutionID}
}

// Refund is money of a payment that was sent back, as a person recorded.
type Refund struct {
	Resolution models.Resolution
	Network    string
	From       Account // Declined or Refunds
	Currency   string
	Value      int64 // hundredths of Currency
	Zone       string
}

// PostRefund posts a refund of a payment.
func PostRefund(tx *models.Tx, now time.Time, r Refund) error {
	row := r.Resolution
	return postEntries(tx, now, []models.JournalEntry{{BusinessID: row.BusinessID, Domain: row.Domain,
		HappenedOn: dayIn(row.CreatedAt, r.Zone), Kind: Refunded, Debit: string(r.From),
		Credit: string(Wallet), Coin: row.Asset,
		Network: r.Network, Amount: row.Amount, Currency: r.Currency, Value: r.Value, PaymentID: row.PaymentID,
		ResolutionID: &row.ID}})
}

// postEntries writes entries, each on the day of its fact or on the first open day.
func postEntries(tx *models.Tx, now time.Time, entries []models.JournalEntry) error {
	open := map[books]string{}
	for i := range entries {
		e := &entries[i]
		of := books{e.BusinessID, e.Domain}
		first, known := open[of]
		if !known {
			var err error
			if first, err = firstOpenDay(tx, of); err != nil {
				return err
			}
			open[of] = first
		}
		e.BookedOn, e.CreatedAt = max(e.HappenedOn, first), now
	}
	if len(entries) == 0 {
		return nil
	}
	if err := tx.Create(entries).Error; err != nil {
		return err
	}
	return addToDays(tx, entries)
}

// addToDays adds entries to the sums of their days. Rows are written in one order, so that two
// transactions don't wait for each other.
func addToDays(tx *models.Tx, entries []models.JournalEntry) error {
	var days []models.JournalDay
	index := map[string]int{}
	for _, e := range entries {
		key := fmt.Sprint(e.BusinessID, e.Domain, e.BookedOn, e.Kind, e.Debit, e.Credit, e.Coin, e.Network, e.Currency)
		i, found := index[key]
		if !found {
			i = len(days)
			index[key] = i
			days = append(days, models.JournalDay{BusinessID: e.BusinessID, Domain: e.Domain, BookedOn: e.BookedOn,
				Kind: e.Kind, Debit: e.Debit, Credit: e.Credit, Coin: e.Coin, Network: e.Network, Currency: e.Currency})
		}
		row := &days[i]
		row.Entries, row.Amount = row.Entries+1, row.Amount.Add(e.Amount)
		row.Value, row.Due = row.Value+e.Value, row.Due+e.Due
		if e.Due > 0 {
			row.Payments++
		}
	}
	slices.SortFunc(days, compareDays)
	add := map[string]any{"amount": gorm.Expr("journal_days.amount + excluded.amount")}
	if !models.IsPostgres(tx) { // its numbers are too small for the sum, and there is no other writer
		add["amount"] = gorm.Expr("excluded.amount")
		for i := range days {
			if err := addKnownAmount(tx, &days[i]); err != nil {
				return err
			}
		}
	}
	for _, column := range []string{"entries", "payments", "value", "due"} {
		add[column] = gorm.Expr("journal_days." + column + " + excluded." + column)
	}
	return tx.Clauses(clause.OnConflict{Columns: dayKey, DoUpdates: clause.Assignments(add)}).Create(days).Error
}

// addKnownAmount adds the amount that is stored for a day.
func addKnownAmount(tx *models.Tx, d *models.JournalDay) error {
	key := map[string]any{"business_id": d.BusinessID, "domain": d.Domain, "booked_on": d.BookedOn, "kind": d.Kind,
		"debit": d.Debit, "credit": d.Credit, "coin": d.Coin, "network": d.Network, "currency": d.Currency}
	var known []models.JournalDay
	err := tx.Select("amount").Where(key).Find(&known).Error
	for _, row := range known {
		d.Amount = d.Amount.Add(row.Amount)
	}
	return err
}

// dayKey is the primary key of the sums of days.
var dayKey = []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "booked_on"}, {Name: "kind"},
	{Name: "debit"}, {Name: "credit"}, {Name: "coin"}, {Name: "network"}, {Name: "currency"}}

// compareDays orders the sums of days by their keys.
func compareDays(a, b models.JournalDay) int {
	return cmp.Or(cmp.Compare(a.BusinessID, b.BusinessID), cmp.Compare(a.Domain, b.Domain),
		cmp.Compare(a.BookedOn, b.BookedOn), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Debit, b.Debit),
		cmp.Compare(a.Credit, b.Credit), cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.Network, b.Network),
		cmp.Compare(a.Currency, b.Currency))
}

// dayIn returns the day of a time in a zone, as 2006-01-02.
func dayIn(at time.Time, name string) string {
	return at.In(clock.LoadZone(name)).Format(time.DateOnly)
}

// IsBooked reports whether the books hold transfers of an asset: others have no value that the
// program can name.
func IsBooked(asset string, amount money.Amount) bool {
	return money.Coin(asset).Info().Unit > 0 && amount.Sign() > 0
}
