package quote

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// kept is how many minutes of history there are: 90 days.
	kept = 90 * 24 * 60
	// daysFor is how long the last day's medians are believed.
	daysFor = 10 * time.Minute
	// maxPoints bounds a chart.
	maxPoints = 2000
)

// Pairs are those that the live domain's history has, and pages show: each coin
// in dollars, the dollar in each currency, and what the street is asked for.
func (s *Service) Pairs() []Pair {
	return slices.DeleteFunc(allPairs(), func(p Pair) bool {
		return slices.ContainsFunc(money.Currencies(), func(c money.Currency) bool {
			return p == (Pair{Base: string(money.USDT), Quote: c.ISOCode()}) && c != money.USD &&
				!s.HasStreet(scope.Live, c)
		})
	})
}

// allPairs are those that a history could have.
func allPairs() (all []Pair) {
	for _, coin := range money.Coins() {
		all = append(all, Pair{Base: string(coin.Coin), Quote: "USD"})
	}
	for _, c := range money.Currencies() {
		if c != money.USD {
			all = append(all, Pair{Base: "USD", Quote: c.ISOCode()})
		}
	}
	for _, c := range money.Currencies() {
		if c != money.USD {
			all = append(all, Pair{Base: string(money.USDT), Quote: c.ISOCode()})
		}
	}
	return all
}

// computeMedians stores the price of every pair once a minute, deletes old ones, and
// computes the medians of the last day.
func (k *Keeper) computeMedians(ctx context.Context, now time.Time) error {
	minute := now.Unix() / 60
	if minute == k.minute {
		return nil
	}
	var rows []models.RateMinute
	for _, p := range k.Service.Pairs() {
		leg, err := k.Service.buildLeg(scope.Live, p, now)
		k.logTrust(ctx, p, err)
		if err != nil {
			continue // no value is no value
		}
		counted := 0
		for _, r := range leg.Readings {
			if r.LeftOut == "" {
				counted++
			}
		}
		rows = append(rows, models.RateMinute{Base: p.Base, Quote: p.Quote, Minute: minute, Value: leg.Value.String(),
			Sources: counted})
	}
	if len(rows) > 0 {
		if err := k.DB.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error; err != nil {
			return err
		}
	}
	k.minute = minute
	if now.Sub(k.daysAt) < daysFor {
		return nil
	}
	if err := k.pruneHistory(ctx, minute); err != nil {
		return err
	}
	k.daysAt = now
	return nil
}

// logTrust says in the log when a pair has no trustworthy rate any more, and when it has one again.
func (k *Keeper) logTrust(ctx context.Context, p Pair, none error) {
	switch {
	case none != nil && !k.none[p]:
		k.Log.WarnContext(ctx, "a pair has no trustworthy rate", "pair", p.String(), "why", none)
	case none == nil && k.none[p]:
		k.Log.InfoContext(ctx, "a pair has a trustworthy rate again", "pair", p.String())
	}
	if k.none == nil {
		k.none = map[Pair]bool{}
	}
	k.none[p] = none != nil
}

// pruneHistory prunes the history and takes the medians of the last day.
func (k *Keeper) pruneHistory(ctx context.Context, minute int64) error {
	days := map[Pair]decimal.Decimal{}
	for _, p := range allPairs() { // also pairs that are no longer configured
		of := k.DB.Exec(ctx).Where("base = ? AND quote = ?", p.Base, p.Quote)
		if err := of.Where("minute < ?", minute-kept).Delete(&models.RateMinute{}).Error; err != nil {
			return err
		}
		var texts []string
		err := k.DB.Read(ctx).Model(&models.RateMinute{}).Where("base = ? AND quote = ? AND minute >= ?", p.Base,
			p.Quote, minute-24*60).
			Pluck("value", &texts).Error
		if err != nil {
			return err
		}
		values := make([]decimal.Decimal, 0, len(texts))
		for _, text := range texts {
			value, err := decimal.NewFromString(text)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		days[p] = middleValue(values)
	}
	k.setDays(days)
	return nil
}

// Point is what a pair was worth at a time.
type Point struct {
	At      time.Time
	Value   decimal.Decimal
	Sources int // that agreed
}

// History is what a pair was worth in the live domain since a time, one point a
// step of whole minutes, at most 2,000. Minutes without a trustworthy rate have none.
func (s *Service) History(ctx context.Context, p Pair, since time.Time, step time.Duration) ([]Point, error) {
	every := max(int64(step/time.Minute), 1)
	var rows []models.RateMinute
	err := s.DB.Read(ctx).Where("base = ? AND quote = ? AND minute >= ? AND minute % ? = 0", p.Base, p.Quote,
		since.Unix()/60, every).
		Order("minute DESC").Limit(maxPoints).Find(&rows).Error
	if err != nil {
		return nil, err
	}
	points := make([]Point, len(rows))
	for i, row := range rows {
		value, err := decimal.NewFromString(row.Value)
		if err != nil {
			return nil, err
		}
		points[len(rows)-1-i] = Point{At: time.Unix(row.Minute*60, 0).UTC(), Value: value, Sources: row.Sources}
	}
	return points, nil
}
