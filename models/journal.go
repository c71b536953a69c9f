package models

import (
	"fmt"
	"strings"
	"time"

	"cointill/core/money"
)

// JournalEntry moves an amount from one account of a business to another (contract section
// 11): it debits one and credits the other, so the accounts balance whatever is posted. The
// database refuses to change or delete an entry. Only core/journal writes it.
type JournalEntry struct {
	ID         int64  `gorm:"index:journal_entries_list,priority:4"`
	BusinessID int64  `gorm:"not null;index:journal_entries_list,priority:1;index:journal_entries_late,priority:1,where:happened_on <> booked_on"`
	Domain     string `gorm:"not null;index:journal_entries_list,priority:2;index:journal_entries_late,priority:2"`
	// BookedOn is the day (2006-01-02) of the fact in the business's time zone, or the first
	// open day when that month was closed.
	BookedOn string `gorm:"not null;index:journal_entries_list,priority:3"`
	// HappenedOn is the day of the fact.
	HappenedOn string `gorm:"not null;index:journal_entries_late,priority:3"`
	// Kind is what happened, a kind of core/journal.
	Kind     string       `gorm:"not null"`
	Debit    string       `gorm:"not null"`
	Credit   string       `gorm:"not null"`
	Coin     string       `gorm:"not null"`
	Network  string       `gorm:"not null"`
	Amount   money.Amount `gorm:"not null"` // smallest units of the coin, above zero
	Currency string       `gorm:"not null"` // "" where no rate was locked
	Value    int64        `gorm:"not null"` // of the amount, in hundredths of the currency
	// Due is the amount due of the payment that this entry counts as sold, in hundredths of
	// Currency; 0 for all other entries.
	Due        int64  `gorm:"not null"`
	PaymentID  *int64 `gorm:"index:journal_entries_payment,where:payment_id IS NOT NULL"`
	TransferID *int64
	SendID     *int64 `gorm:"index:journal_entries_send,where:send_id IS NOT NULL"`
	// DepartureID is the transaction by which the owner moved money.
	DepartureID *int64
	// ResolutionID is the refund that a person recorded, posted at most once.
	ResolutionID *int64    `gorm:"uniqueIndex:journal_entries_resolution,where:resolution_id IS NOT NULL"`
	CreatedAt    time.Time `gorm:"not null"`
}

// UnsummedEntry names an entry that isn't in the sums of days and months yet. The database adds it with
// the entry: PostgreSQL to a table. On SQLite, whose entries have growing numbers, it is in a view of the
// entries after the last that is in the sums, and a delete raises its number.
type UnsummedEntry struct {
	EntryID int64 `gorm:"primaryKey;autoIncrement:false"`
}

// JournalDaySum sums the entries of a day by their properties, so that a statement costs the same
// however many there are.
type JournalDaySum struct {
	BusinessID int64        `gorm:"primaryKey;autoIncrement:false"`
	Domain     string       `gorm:"primaryKey"`
	BookedOn   string       `gorm:"primaryKey"`
	Kind       string       `gorm:"primaryKey"`
	Debit      string       `gorm:"primaryKey"`
	Credit     string       `gorm:"primaryKey"`
	Coin       string       `gorm:"primaryKey"`
	Network    string       `gorm:"primaryKey"`
	Currency   string       `gorm:"primaryKey"`
	Entries    int64        `gorm:"not null"`
	Payments   int64        `gorm:"not null"` // that these entries count as sold
	Amount     money.Amount `gorm:"not null"`
	Value      int64        `gorm:"not null"`
	Due        int64        `gorm:"not null"`
}

// JournalMonthSum sums the entries of a month by their accounts, so that the sums before a period cost
// the same however many days there are.
type JournalMonthSum struct {
	BusinessID int64        `gorm:"primaryKey;autoIncrement:false"`
	Domain     string       `gorm:"primaryKey"`
	Month      string       `gorm:"primaryKey"` // 2006-01
	Debit      string       `gorm:"primaryKey"`
	Credit     string       `gorm:"primaryKey"`
	Coin       string       `gorm:"primaryKey"`
	Network    string       `gorm:"primaryKey"`
	Amount     money.Amount `gorm:"not null"`
}

// ClosedMonth is a month that a business closed: no entry is booked in it any more.
type ClosedMonth struct {
	BusinessID int64     `gorm:"primaryKey;autoIncrement:false"`
	Domain     string    `gorm:"primaryKey"`
	Month      string    `gorm:"primaryKey"` // 2006-01
	Hash       string    `gorm:"not null"`   // hex SHA-256 of its entries
	Actor      string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null"`
}

// SumAmounts returns the SQL expression that adds up a column of amounts, to scan into an
// AmountSum. SQLite's numbers are too small for a sum, so it adds up groups of nine digits.
func SumAmounts(tx *Tx, column string) string {
	if IsPostgres(tx) {
		return "SUM(" + column + ")::text"
	}
	groups := make([]string, sumGroups)
	for i := range groups {
		end := 9 * (sumGroups - i)
		groups[i] = fmt.Sprintf("SUM(CAST(substr('%s' || %s, %d, 9) AS INTEGER))", strings.Repeat("0", 9*sumGroups),
			column, -end)
	}
	return strings.Join(groups, " || ' ' || ")
}

// sumGroups is how many groups of nine digits hold every amount: NUMERIC(78,0).
const sumGroups = 9

// AmountSum is a sum of amounts, as SumAmounts gives it.
type AmountSum struct{ money.Amount }

// Scan reads groups of nine digits, the highest first, with blanks between them.
func (s *AmountSum) Scan(src any) error {
	s.Amount = money.Amount{}
	for group := range strings.FieldsSeq(fmt.Sprint(src)) {
		part, err := money.ParseUnits(group)
		if err != nil {
			return err
		}
		s.Amount = s.Amount.MulDiv(1_000_000_000, 1).Add(part)
	}
	return nil
}
