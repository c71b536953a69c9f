package quote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/core/fault"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
)

// Health is how a source does.
type Health struct {
	Source source.Source
	State  models.RateSource // its AskedAt is zero when it was never asked
	Prices []models.Rate     // the last of each pair, in the source's order
}

// alarming is how many failures of a source in a row raise an alarm, and for how long the
// system page shows a refused price.
const (
	alarmingFailures = 3
	alarmingFor      = time.Hour
)

// Wanted reports whether any business has a live payment method on. While none
// has, nothing is fetched.
func (s *Service) Wanted(ctx context.Context) (bool, error) {
	var found []int64
	err := s.DB.Read(ctx).Model(&models.Method{}).Where("domain = ? AND enabled", string(scope.Live)).Limit(1).
		Pluck("id", &found).Error
	return len(found) > 0, err
}

// Healths tells how each source of the live domain does.
func (s *Service) Healths(ctx context.Context) ([]Health, error) {
	var states []models.RateSource
	if err := s.DB.Read(ctx).Find(&states).Error; err != nil {
		return nil, err
	}
	var rates []models.Rate
	if err := s.DB.Read(ctx).Order("id").Find(&rates).Error; err != nil {
		return nil, err
	}
	all := make([]Health, len(s.Asked))
	for i, from := range s.Asked {
		all[i] = Health{Source: from}
		for _, st := range states {
			if st.Name == from.Name {
				all[i].State = st
			}
		}
		for _, p := range from.Pairs() {
			for _, r := range rates {
				if r.Source == from.Name && r.Base == p.Base && r.Quote == p.Quote {
					all[i].Prices = append(all[i].Prices, r)
				}
			}
		}
	}
	return all, nil
}

// Alarms are what an operator should look at, as sentences: pairs of the live
// domain without a rate, sources that keep failing or say nothing new, prices
// that were refused within the last hour.
func (s *Service) Alarms(healths []Health) (all []string) {
	now := s.Clock()
	for _, p := range s.Pairs() {
		_, err := s.buildLeg(scope.Live, p, now)
		var none *fault.Fault
		if errors.As(err, &none) {
			all = append(all, none.Sentence.String())
		}
	}
	for _, h := range healths {
		if h.State.Failures >= alarmingFailures {
			all = append(all, fmt.Sprintf("%s failed %d times in a row: it %s.", h.Source.Title, h.State.Failures,
				h.State.Problem))
		}
		for _, r := range h.Prices {
			if old := now.Sub(r.At); r.Value != "" && h.State.Problem == "" &&
				old > maxAge(Pair{Base: r.Base, Quote: r.Quote}) {
				all = append(all, fmt.Sprintf("%s answers, but its price of %s/%s is from %s.", h.Source.Title, r.Base,
					r.Quote, r.At.UTC().Format("2 Jan, 15:04:05 UTC")))
			}
			if r.RefusedAt != nil && now.Sub(*r.RefusedAt) < alarmingFor {
				all = append(all, fmt.Sprintf("%s said %s/%s is %s, which was refused: %s.", h.Source.Title, r.Base,
					r.Quote, r.RefusedValue, r.Refused))
			}
		}
	}
	return all
}
