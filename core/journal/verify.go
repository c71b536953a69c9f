package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"cointill/core/scope"
	"cointill/models"
)

// Verdict says whether books hold.
type Verdict struct {
	Entries int64
	Months  int // closed ones
	// Broken is a sentence that says what doesn't fit; "" when all does.
	Broken string
}

// VerifyBooks reads all entries of the scope's books, and compares them with the hashes of closed months, which
// the audit log has too, and with the sums of days and months that statements show. Books that don't hold are
// no error. It reads as of one moment. Faults of the database only.
func (s *Service) VerifyBooks(ctx context.Context, sc scope.Scope) (v Verdict, err error) {
	err = s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		var closed []models.ClosedMonth
		if err := sc.Rows(tx).Order("month").Find(&closed).Error; err != nil {
			return err
		}
		v = Verdict{Months: len(closed)}
		if v.Broken, err = compareClosings(tx, sc, closed); err != nil || v.Broken != "" {
			return err
		}
		first := "0000-01-01"
		for _, month := range closed {
			open, err := dayAfter(month.Month)
			if err != nil {
				return err
			}
			last := month.Month + "-31"
			if err := v.verifyPeriod(tx, sc, Period{first, last}, month.Hash); err != nil || v.Broken != "" {
				return err
			}
			first = open
		}
		return v.verifyPeriod(tx, sc, Period{first, "9999-12-31"}, "")
	})
	return v, err
}

// compareClosings describes a month that is closed and that the audit log has not, or has with another hash, or
// the other way round.
func compareClosings(tx *models.Tx, sc scope.Scope, closed []models.ClosedMonth) (string, error) {
	var acts []models.Audit
	if err := sc.Rows(tx).Where("action = ?", actClosed).Find(&acts).Error; err != nil {
		return "", err
	}
	logged := map[string]string{}
	for _, act := range acts {
		logged[act.Subject] = act.Detail
	}
	for _, month := range closed {
		if !strings.Contains(logged[month.Month], month.Hash) {
			return fmt.Sprintf("%s is not closed with the hash that the audit log has.", month.Month), nil
		}
		delete(logged, month.Month)
	}
	for month := range logged {
		return fmt.Sprintf("%s was closed, as the audit log says, and is open.", month), nil
	}
	return "", nil
}

// verifyPeriod compares the entries of a period with their hash, "" for none, and with the sums.
func (v *Verdict) verifyPeriod(tx *models.Tx, sc scope.Scope, p Period, hash string) error {
	sum, days := sha256.New(), []models.JournalDaySum(nil)
	err := readPeriod(tx, sc, p, func(list []Entry) {
		v.Entries += int64(len(list))
		writeEntries(sum, list)
		for _, e := range list {
			days = addDay(days, sumEntry(e.JournalEntry))
		}
	})
	if err != nil {
		return err
	}
	if hash != "" && hash != hex.EncodeToString(sum.Sum(nil)) {
		v.Broken = fmt.Sprintf("Entries of %s, or of a month that was closed with it, changed after it was closed.",
			monthOf(p.To))
		return nil
	}
	v.Broken, err = compareSums(tx, sc, p, days)
	return err
}

// compareSums describes the first day or month whose stored sums aren't what its entries say; "" for none.
func compareSums(tx *models.Tx, sc scope.Scope, p Period, want []models.JournalDaySum) (string, error) {
	var days []models.JournalDaySum
	err := sc.Rows(tx).Where("booked_on >= ? AND booked_on <= ?", p.From, p.To).Find(&days).Error
	if err != nil {
		return "", err
	}
	var months []models.JournalMonthSum
	err = sc.Rows(tx).Where("month >= ? AND month <= ?", monthOf(p.From), monthOf(p.To)).Find(&months).Error
	if err != nil {
		return "", err
	}
	var entries []models.JournalEntry
	err = sc.Rows(tx.Table(unsummed)).Where("booked_on >= ? AND booked_on <= ?", p.From, p.To).Find(&entries).Error
	if err != nil {
		return "", err
	}
	readMonth := func(m models.JournalMonthSum) string { return m.Month }
	if month := findDifference(months, sumByMonth(days), readMonth); month != "" {
		return fmt.Sprintf("The sums of %s aren't those of its days.", month), nil
	}
	got := sumByDay(entries)
	for _, day := range days {
		got = addDay(got, day)
	}
	readDay := func(d models.JournalDaySum) string { return d.BookedOn }
	if day := findDifference(got, want, readDay); day != "" {
		return fmt.Sprintf("The sums of %s aren't those of its entries.", day), nil
	}
	return "", nil
}

// findDifference returns the earliest day or month of a row that only one of two lists has; "" for none.
func findDifference[T any](a, b []T, nameOf func(T) string) (name string) {
	count := map[string]int{}
	names := map[string]string{}
	for i, list := range [][]T{a, b} {
		for _, row := range list {
			text := fmt.Sprint(row)
			count[text] += 1 - 2*i
			names[text] = nameOf(row)
		}
	}
	for text, n := range count {
		if n != 0 && (name == "" || names[text] < name) {
			name = names[text]
		}
	}
	return name
}
