package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// books names the books of a business in a domain.
type books struct {
	business int64
	domain   string
}

// firstOpenDay returns the day after the last closed month, "" when none is closed.
func firstOpenDay(tx *models.Tx, of books) (string, error) {
	var last string
	err := tx.Raw("SELECT COALESCE(MAX(month), '') FROM closed_months WHERE business_id = ? AND domain = ?",
		of.business, of.domain).Scan(&last).Error
	if err != nil || last == "" {
		return "", err
	}
	return dayAfter(last)
}

// dayAfter returns the day after a closed month.
func dayAfter(closed string) (string, error) {
	month, err := time.Parse(monthLayout, closed)
	if err != nil {
		return "", fmt.Errorf("journal: closed month %q: %w", closed, err)
	}
	return month.AddDate(0, 1, 0).Format(time.DateOnly), nil
}

// actClosed is the name of a closing in the audit log.
const actClosed = "books.closed"

// monthLayout is how months are written.
const monthLayout = "2006-01"

// CloseMonth closes a month of the scope's books, and all open months before it: no entry is
// booked in them any more. The hash of their entries goes to the audit log.
//
// Faults: Forbidden; Invalid for text that is not a month, for a month that has not ended in the
// business's time zone, and for one that ended before the business existed and has no entry until
// its end; Conflict for a month that is closed.
func (s *Service) CloseMonth(ctx context.Context, sc scope.Scope, month string) (models.ClosedMonth, error) {
	if err := sc.CheckAction(scope.CloseMonths); err != nil {
		return models.ClosedMonth{}, err
	}
	period, err := MonthOf(month)
	if err != nil {
		return models.ClosedMonth{}, err
	}
	row := models.ClosedMonth{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Month: month, Actor: sc.Actor,
		CreatedAt: s.Clock()}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if models.IsPostgres(tx) { // waits for transactions that post, and they for this one
			if err := tx.Exec("SELECT pg_advisory_xact_lock(1785, ?::int)", sc.BusinessID).Error; err != nil {
				return err
			}
		}
		open, err := s.checkMonth(tx, sc, period)
		if err != nil {
			return err
		}
		row.Hash, err = hashEntries(tx, sc, Period{open, period.To})
		if err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return audit.Record(tx, sc, row.CreatedAt, actClosed, month, map[string]string{"hash": row.Hash})
	})
	return row, err
}

// checkMonth refuses a month that is closed, has not ended, or ended before the business existed. It returns the
// first open day, "" before the first closing.
func (s *Service) checkMonth(tx *models.Tx, sc scope.Scope, p Period) (open string, err error) {
	if open, err = firstOpenDay(tx, books{sc.BusinessID, string(sc.Domain)}); err != nil {
		return "", err
	}
	if open > p.From {
		return "", fault.New(fault.Conflict, "month_closed", "This month is closed already.")
	}
	var business models.Business
	if err := tx.Select("time_zone", "created_at").Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
		return "", err
	}
	if dayIn(s.Clock(), business.TimeZone) <= p.To {
		return "", fault.RefuseField("month", "Has not ended yet. Close it after its last day.")
	}
	if p.To >= dayIn(business.CreatedAt, business.TimeZone) {
		return open, nil
	}
	var booked []int64 // before the business existed, as sample data can be
	err = sc.Rows(tx.Model(&models.JournalEntry{})).Where("booked_on <= ?", p.To).Limit(1).Pluck("id", &booked).Error
	if err == nil && len(booked) == 0 {
		err = fault.RefuseField("month", "Is before this business existed, and has no entries.")
	}
	return open, err
}

// ClosedMonths lists the closed months of the scope, the latest first. Faults: Forbidden.
func (s *Service) ClosedMonths(ctx context.Context, sc scope.Scope) (list []models.ClosedMonth, err error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, err
	}
	err = sc.Rows(s.DB.Read(ctx)).Order("month DESC").Limit(maxMonths).Find(&list).Error
	return list, err
}

// maxMonths bounds the closed months of a list: 100 years.
const maxMonths = 1200

// hashEntries returns the hex SHA-256 of the entries of a period in the order of their numbers.
func hashEntries(tx *models.Tx, sc scope.Scope, p Period) (string, error) {
	sum := sha256.New()
	err := readPeriod(tx, sc, p, func(list []Entry) { writeEntries(sum, list) })
	return hex.EncodeToString(sum.Sum(nil)), err
}

// readPeriod hands over the entries of a period in batches, in the order of their numbers.
func readPeriod(tx *models.Tx, sc scope.Scope, p Period, batch func([]Entry)) error {
	for f := (Filter{Period: p}); ; {
		list, err := readEntries(tx, sc, f, exportBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		batch(list)
		f.After = list[len(list)-1].ID
	}
}

// writeEntries writes entries as the hash of their month has them.
func writeEntries(w io.Writer, list []Entry) {
	for _, e := range list {
		fmt.Fprintln(w, e.ID, e.BookedOn, e.HappenedOn, e.Kind, e.Debit, e.Credit, e.Coin, e.Network, e.Amount,
			e.Currency, e.Value, e.Due, e.Payment, e.Hash)
		if e.Send != "" { // entries of earlier releases have none
			fmt.Fprintln(w, e.Send)
		}
	}
}
