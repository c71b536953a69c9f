package stats

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/models"
)

// foldAtOnce is how many changes one transaction folds in.
const foldAtOnce = 1000

// FoldChanges folds changes into their days, and returns how many it did. Several may
// fold at once: each takes other changes.
func (s *Service) FoldChanges(ctx context.Context) (n int, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		n = 0
		changes, zones, err := s.claimChanges(tx)
		if err != nil || len(changes) == 0 {
			return err
		}
		counted, ids := newSums(), make([]int64, 0, len(changes))
		for _, c := range changes {
			zone, ready := zones[c.BusinessID]
			if !ready {
				continue // it is being counted again
			}
			ids = append(ids, c.ID)
			counted.addChange(c, dayOf(c.PaymentAt, zone))
		}
		if n = len(ids); n == 0 {
			return nil
		}
		if err := tx.Where("id IN ?", ids).Delete(&models.TallyChange{}).Error; err != nil {
			return err
		}
		return addToRows(tx, counted)
	})
	return n, err
}

// claimChanges takes changes of businesses that are counted, with the zones of these,
// and keeps others from taking them or from changing those.
func (s *Service) claimChanges(tx *models.Tx) ([]models.TallyChange, map[int64]*time.Location, error) {
	ready := tx.Session(&gorm.Session{NewDB: true}).Model(&models.Tally{}).Select("business_id").Where("ready")
	query := tx.Where("business_id IN (?)", ready).Order("id").Limit(foldAtOnce)
	if models.IsPostgres(tx) {
		query = query.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"})
	}
	var changes []models.TallyChange
	if err := query.Find(&changes).Error; err != nil || len(changes) == 0 {
		return nil, nil, err
	}
	whose := map[int64]bool{}
	var ids []int64
	for _, c := range changes {
		if !whose[c.BusinessID] {
			whose[c.BusinessID] = true
			ids = append(ids, c.BusinessID)
		}
	}
	query = tx.Where("business_id IN ? AND ready", ids).Order("business_id")
	if models.IsPostgres(tx) {
		query = query.Clauses(clause.Locking{Strength: "SHARE"})
	}
	var tallies []models.Tally
	zones := map[int64]*time.Location{}
	err := query.Find(&tallies).Error
	for _, t := range tallies {
		zones[t.BusinessID] = clock.LoadZone(t.Zone)
	}
	return changes, zones, err
}

// addToRows adds sums to the rows there are.
func addToRows(tx *models.Tx, counted sums) error {
	if rows := counted.dayRows(); len(rows) > 0 {
		add := clause.OnConflict{Columns: listColumns("business_id", "domain", "day", "currency", "method", "status"),
			DoUpdates: clause.Assignments(map[string]any{"count": gorm.Expr("tally_days.count + excluded.count"),
				"amount": gorm.Expr("tally_days.amount + excluded.amount")})}
		if err := tx.Clauses(add).Create(&rows).Error; err != nil {
			return err
		}
	}
	rows := counted.waitRows()
	if len(rows) == 0 {
		return nil
	}
	add := clause.OnConflict{Columns: listColumns("business_id", "domain", "day", "bucket"),
		DoUpdates: clause.Assignments(map[string]any{"count": gorm.Expr("tally_waits.count + excluded.count")})}
	return tx.Clauses(add).Create(&rows).Error
}

func listColumns(names ...string) (list []clause.Column) {
	for _, name := range names {
		list = append(list, clause.Column{Name: name})
	}
	return list
}

// Run folds changes every interval, and recounts where that is needed, until the context ends.
func (s *Service) Run(ctx context.Context, interval time.Duration) error {
	looked := time.Time{}
	return clock.RunEvery(ctx, interval, func() {
		for more := true; more; {
			n, err := s.FoldChanges(ctx)
			if now := s.Clock(); err == nil && now.Sub(looked) >= time.Minute {
				if err = s.RecountDue(ctx); err == nil {
					looked = now
				}
			}
			if err != nil && ctx.Err() == nil {
				slog.ErrorContext(ctx, "figures of the overview can't be counted", "error", err)
			}
			more = err == nil && n == foldAtOnce
		}
	})
}
