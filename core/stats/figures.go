package stats

import (
	"context"
	"maps"
	"slices"
	"time"

	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/models"
)

// Period is a range of days, both included, in a zone.
type Period struct {
	From, To string // 2006-01-02
	Zone     string // IANA name
}

// Cell is the number of payments of a kind that were initiated on a day.
type Cell struct {
	Day, Currency, Status string
	Count                 int64
}

// Figures are what a period came to, by the day on which payments were initiated.
type Figures struct {
	Days []Cell // by day, currency and status
	// Waits is how long successful payments took until they were final, without
	// those that a person accepted; by bucket.
	Waits Waits
	// DayWaits are the same of each day that has any.
	DayWaits map[string]Waits
}

// Waits counts times by bucket.
type Waits map[int]int64

// addWait counts payments of a day in a bucket.
func (f *Figures) addWait(day string, bucket int, count int64) {
	f.Waits[bucket] += count
	if f.DayWaits[day] == nil {
		f.DayWaits[day] = Waits{}
	}
	f.DayWaits[day][bucket] += count
}

func newFigures() Figures { return Figures{Waits: Waits{}, DayWaits: map[string]Waits{}} }

// ReadFigures counts the scope's payments of a period. Faults: Forbidden.
func (s *Service) ReadFigures(ctx context.Context, sc scope.Scope, p Period) (Figures, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return Figures{}, err
	}
	f := newFigures()
	zone := clock.LoadZone(p.Zone)
	from, to := clock.FindDayStart(p.From, zone, 0), clock.FindDayStart(p.To, zone, 1)
	err := s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		f = newFigures()
		var ready int64
		if err := tx.Model(&models.Tally{}).Where("business_id = ? AND zone = ? AND ready", sc.BusinessID, p.Zone).
			Count(&ready).Error; err != nil {
			return err
		}
		if ready == 0 {
			counted, err := countPayments(tx, sc, from, to, zone)
			f.addChanges(counted)
			return err
		}
		if err := f.readDays(tx, sc, p); err != nil {
			return err
		}
		var changes []models.TallyChange
		if err := sc.Rows(tx).Where("payment_at >= ? AND payment_at < ?", from.UTC(), to.UTC()).
			Find(&changes).Error; err != nil {
			return err
		}
		fresh := newSums()
		for _, c := range changes {
			fresh.addChange(c, dayOf(c.PaymentAt, zone))
		}
		f.addChanges(fresh)
		return nil
	})
	return f, err
}

// readDays reads the rows of days.
func (f *Figures) readDays(tx *models.Tx, sc scope.Scope, p Period) error {
	const within = "day >= ? AND day <= ? AND count <> 0"
	days := sc.Rows(tx.Model(&models.TallyDay{})).Where(within, p.From, p.To)
	if err := days.Select("day, currency, status, sum(count) AS count").
		Group("day, currency, status").Find(&f.Days).Error; err != nil {
		return err
	}
	var waits []models.TallyWait
	err := sc.Rows(tx).Where(within, p.From, p.To).Select("day, bucket, count").Find(&waits).Error
	for _, w := range waits {
		f.addWait(w.Day, w.Bucket, w.Count)
	}
	return err
}

// addChanges adds changes that are not in the rows of days yet.
func (f *Figures) addChanges(counted sums) {
	days := map[Cell]int64{}
	for _, c := range f.Days {
		days[Cell{Day: c.Day, Currency: c.Currency, Status: c.Status}] += c.Count
	}
	for k, v := range counted.days {
		days[Cell{Day: k.day, Currency: k.currency, Status: k.status}] += v.count
	}
	for k, n := range counted.waits {
		f.addWait(k.day, k.bucket, n)
	}
	f.Days = nil
	for cell, count := range days {
		if cell.Count = count; count != 0 {
			f.Days = append(f.Days, cell)
		}
	}
}

// MedianTime returns the time that half of the counted payments took at most, to a few
// percent; false when none is counted.
func (f Figures) MedianTime() (time.Duration, bool) { return f.Waits.Median() }

// Median returns the time that half of the counted payments took at most, as MedianTime does.
func (w Waits) Median() (time.Duration, bool) {
	all := int64(0)
	for _, n := range w {
		all += n
	}
	left := (all + 1) / 2
	for _, bucket := range slices.Sorted(maps.Keys(w)) {
		if left -= w[bucket]; left <= 0 && all > 0 {
			return BucketMiddle(bucket), true
		}
	}
	return 0, false
}
