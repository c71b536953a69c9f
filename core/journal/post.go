package journal

import (
	"slices"
	"strings"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/models"
)

// Move says where the money of a transfer stands now.
type Move struct {
	Transfer *models.Transfer // ID, owner, network, asset, amount, payment and place
	To       Account
	Currency string    // of Value; "" where no rate was locked
	Value    int64     // hundredths of Currency
	Held     *Held     // nil where the books hold the transfer for its payment
	At       time.Time // of the fact
	Zone     string    // of the business
	// Due is the amount due of the payment that the move makes a sale, in hundredths of Currency.
	// Of several moves for one payment, one has it.
	Due int64
	// ResolutionID is the refund that a person recorded; nil for other moves.
	ResolutionID *int64
}

// Held says for what payment the books hold a transfer, and in what currency, where a person attached it to another
// payment.
type Held struct {
	PaymentID *int64
	Currency  string
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
		ResolutionID: &row.ID}}, map[books]string{})
}

// postEntries writes entries, each on the day of its fact or on the first open day. open has the first
// open days that are known; others are read.
func postEntries(tx *models.Tx, now time.Time, entries []models.JournalEntry, open map[books]string) error {
	for i := range entries {
		e := &entries[i]
		of := books{e.BusinessID, e.Domain}
		if _, known := open[of]; !known {
			first, err := firstOpenDay(tx, of)
			if err != nil {
				return err
			}
			open[of] = first
		}
		e.BookedOn, e.CreatedAt = max(e.HappenedOn, open[of]), now
	}
	return insertEntries(tx, entries)
}

// The statements that post. The database notes each entry as unsummed.
const (
	insertIntoEntries = "INSERT INTO journal_entries (business_id, domain, booked_on, happened_on, kind, debit, credit, " +
		"coin, network, amount, currency, value, due, payment_id, transfer_id, send_id, departure_id, resolution_id, " +
		"created_at) VALUES "
	entryRow = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// insertEntries inserts entries.
func insertEntries(tx *models.Tx, entries []models.JournalEntry) error {
	for some := range slices.Chunk(entries, rowsAtOnce) {
		values := make([]any, 0, len(some)*strings.Count(entryRow, "?"))
		for i := range some {
			e := &some[i]
			values = append(values, e.BusinessID, e.Domain, e.BookedOn, e.HappenedOn, e.Kind, e.Debit, e.Credit, e.Coin,
				e.Network, e.Amount, e.Currency, e.Value, e.Due, e.PaymentID, e.TransferID, e.SendID, e.DepartureID,
				e.ResolutionID, e.CreatedAt)
		}
		statement := insertIntoEntries + repeatRow(entryRow, len(some))
		if err := tx.Exec(statement, values...).Error; err != nil {
			return err
		}
	}
	return nil
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
