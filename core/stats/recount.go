package stats

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/models"
)

// settled is after how many days one is counted once more: no clock of a payment
// moves it then. A release that knew nothing of figures may have run meanwhile.
const settled = 3

// atOnce is how many days one transaction counts.
const atOnce = 31

// due is a business that has to be counted, from a day on or as a whole.
type due struct {
	BusinessID int64
	Zone       string // of the business
	Tallied    string // of its figures; "" for none
	Ready      bool
	Recounted  string
}

// RecountDue counts those businesses from their payments that were never counted, or
// by the days of another zone; and once more each day that has come to rest.
func (s *Service) RecountDue(ctx context.Context) error {
	var list []due
	rested := s.Clock().UTC().AddDate(0, 0, -settled).Format(time.DateOnly)
	err := s.DB.Read(ctx).Model(&models.Business{}).
		Select("businesses.id AS business_id, businesses.time_zone AS zone, COALESCE(tallies.zone, '') AS tallied, "+
			"COALESCE(tallies.ready, ?) AS ready, COALESCE(tallies.recounted, '') AS recounted", false).
		Joins("LEFT JOIN tallies ON tallies.business_id = businesses.id").
		Where("tallies.business_id IS NULL OR NOT tallies.ready OR tallies.zone <> businesses.time_zone OR "+
			"tallies.recounted < ?", rested).
		Order("businesses.id").Find(&list).Error
	if err != nil {
		return err
	}
	for _, d := range list {
		from := d.Recounted
		if !d.Ready || d.Tallied != d.Zone {
			if err := s.beginRecount(ctx, d); err != nil {
				return err
			}
			from = ""
		}
		if err := s.recountBusiness(ctx, d, from, rested); err != nil {
			return err
		}
	}
	return nil
}

// beginRecount deletes the counts of a business: from here on its figures are read from
// its payments, and changes wait.
func (s *Service) beginRecount(ctx context.Context, d due) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		row := models.Tally{BusinessID: d.BusinessID, Zone: d.Zone}
		again := clause.OnConflict{Columns: listColumns("business_id"),
			DoUpdates: clause.AssignmentColumns([]string{"zone", "ready", "recounted"})}
		if err := tx.Clauses(again).Create(&row).Error; err != nil {
			return err
		}
		if err := tx.Where("business_id = ?", d.BusinessID).Delete(&models.TallyDay{}).Error; err != nil {
			return err
		}
		return tx.Where("business_id = ?", d.BusinessID).Delete(&models.TallyWait{}).Error
	})
}

// recountBusiness counts the days after one, or all of them, and says that it is done.
func (s *Service) recountBusiness(ctx context.Context, d due, after, rested string) error {
	zone := clock.LoadZone(d.Zone)
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		sc := scope.Scope{BusinessID: d.BusinessID, Domain: domain}
		next, end := clock.FindDayStart(after, zone, 1), clock.FindDayStart(rested, zone, 1)
		if after == "" {
			next, end = time.Time{}, s.Clock().AddDate(0, 0, 1)
		}
		for {
			first, any, err := s.firstPayment(ctx, sc, next)
			if err != nil {
				return err
			}
			if !any || !first.Before(end) {
				break
			}
			from := clock.FindDayStart(dayOf(first, zone), zone, 0)
			next = clock.FindDayStart(dayOf(first, zone), zone, atOnce)
			if after != "" && next.After(end) {
				next = end
			}
			if err := s.recountDays(ctx, sc, from, next); err != nil {
				return err
			}
		}
	}
	return s.DB.Exec(ctx).Model(&models.Tally{}).Where("business_id = ? AND zone = ?", d.BusinessID, d.Zone).
		Updates(map[string]any{"ready": true, "recounted": rested}).Error
}

// firstPayment returns when the first payment of a scope since a time was initiated.
func (s *Service) firstPayment(ctx context.Context, sc scope.Scope, since time.Time) (time.Time, bool, error) {
	var rows []models.Payment
	err := sc.Rows(s.DB.List(ctx)).Select("created_at").Where("created_at >= ?", since.UTC()).
		Order("created_at, id").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return rows[0].CreatedAt, true, nil
}

// recountDays counts the payments of whole days. What is counted, and which
// changes that holds already, is seen at one moment.
func (s *Service) recountDays(ctx context.Context, sc scope.Scope, from, to time.Time) error {
	zone := from.Location()
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if models.IsPostgres(tx) {
			if err := tx.Exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").Error; err != nil {
				return err
			}
		}
		counted, err := countPayments(tx, sc, from, to, zone)
		if err != nil {
			return err
		}
		const these = "day >= ? AND day < ?"
		if err := sc.Rows(tx).Where(these, dayOf(from, zone), dayOf(to, zone)).
			Delete(&models.TallyDay{}).Error; err != nil {
			return err
		}
		if err := sc.Rows(tx).Where(these, dayOf(from, zone), dayOf(to, zone)).
			Delete(&models.TallyWait{}).Error; err != nil {
			return err
		}
		if err := sc.Rows(tx).Where("payment_at >= ? AND payment_at < ?", from.UTC(), to.UTC()).
			Delete(&models.TallyChange{}).Error; err != nil {
			return err
		}
		return addToRows(tx, counted)
	})
}

// countPayments counts payments of a scope that were initiated from a time up to another.
func countPayments(tx *models.Tx, sc scope.Scope, from, to time.Time, zone *time.Location) (counted sums, err error) {
	rows, err := sc.Rows(tx.Model(&models.Payment{})).Where("created_at >= ? AND created_at < ?", from.UTC(), to.UTC()).
		Select("currency", "method", "status", "reversed", "reason", "amount", "created_at", "settled_at").Rows()
	if err != nil {
		return sums{}, err
	}
	defer func() { _ = rows.Close() }()
	counted = newSums()
	for rows.Next() {
		var p models.Payment
		if err := rows.Scan(&p.Currency, &p.Method, &p.Status, &p.Reversed, &p.Reason, &p.Amount, &p.CreatedAt,
			&p.SettledAt); err != nil {
			return sums{}, err
		}
		counted.addPayment(dayKey{business: sc.BusinessID, domain: string(sc.Domain), day: dayOf(p.CreatedAt, zone),
			currency: p.Currency, method: p.Method}, StandingOf(p), p.Amount, 1)
	}
	return counted, rows.Err()
}
