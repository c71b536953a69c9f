package quote

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
)

// Freshness and agreement by leg (contract, Initiation rules).
const (
	coinAge = 60 * time.Second
	fiatAge = 26 * time.Hour
	// minimum is how many sources must agree.
	minimum = 2
	// again is how long a caller that got no rate waits before the next try.
	again = 30 * time.Second
)

var (
	coinBand = decimal.New(2, -2)
	fiatBand = decimal.New(5, -2)
)

// isCoin reports whether a pair is of a coin, which moves by the second.
func isCoin(p Pair) bool { return money.Coin(p.Base).Info().Coin != "" }

// maxAge is how old a reading of a pair may be.
func maxAge(p Pair) time.Duration {
	if isCoin(p) {
		return coinAge
	}
	return fiatAge
}

// agreementBand returns how far from the median a reading may be, as a part of it. What the
// street pays differs from dealer to dealer as fiat rates do.
func (s *Service) agreementBand(p Pair) decimal.Decimal {
	name, usual := p.Base, coinBand
	if p.Quote != "USD" {
		name, usual = p.Quote, fiatBand
	}
	if set, ok := s.Bands[name]; ok {
		return set
	}
	return usual
}

// buildLeg collects the readings of a pair, leaves out those that are stale or disagree,
// and takes the median.
func (s *Service) buildLeg(domain scope.Domain, p Pair, now time.Time) (Leg, error) {
	leg := Leg{Base: p.Base, Quote: p.Quote, Readings: s.listReadings(domain, p, now)}
	age := maxAge(p)
	for i := range leg.Readings {
		r := &leg.Readings[i]
		switch {
		case r.refused != "" && (!r.Value.IsPositive() || now.Sub(r.At) > age):
			r.LeftOut = "refused: " + r.refused
		case !r.Value.IsPositive():
			r.LeftOut = "not a price"
		case r.At.Sub(now) > ahead: // stored while a clock of ours was wrong
			r.LeftOut = "from the future"
		case now.Sub(r.At) > age:
			r.LeftOut = "stale"
		}
	}
	leg.Trusted = s.trustedSource(p, leg.Readings)
	middle, fresh := medianOf(leg.Readings)
	if fresh > 0 {
		s.markOutliers(p, leg.Readings, middle)
	}
	value, agreeing := medianOf(leg.Readings)
	switch {
	case agreeing >= minimum:
		leg.Value, leg.Trusted = value, ""
	case leg.Trusted != "":
		leg.takeTrusted()
	default:
		return leg, s.explainNone(domain, leg, fresh, agreeing)
	}
	return leg, nil
}

// markOutliers leaves out readings that are farther from the middle than the band allows.
func (s *Service) markOutliers(p Pair, readings []Reading, middle decimal.Decimal) {
	limit := middle.Mul(s.agreementBand(p))
	least, most := middle.Sub(limit), middle.Add(limit)
	for i := range readings {
		r := &readings[i]
		if r.LeftOut == "" && (r.Value.LessThan(least) || r.Value.GreaterThan(most)) {
			r.LeftOut = "off by " + formatPercent(r.Value.Sub(middle).Abs(), middle)
		}
	}
}

// formatPercent writes a part of a whole.
func formatPercent(part, whole decimal.Decimal) string {
	return part.Shift(2).DivRound(whole, 1).String() + " %"
}

// trustedSource returns the source that the operator trusts alone for a pair, if it has a
// fresh price.
func (s *Service) trustedSource(p Pair, readings []Reading) string {
	name := s.Trusted[p]
	for _, r := range readings {
		if name != "" && r.Source == name && r.LeftOut == "" {
			return name
		}
	}
	return ""
}

// takeTrusted takes the trusted source's value for the leg's, whatever others say.
func (l *Leg) takeTrusted() {
	for i := range l.Readings {
		switch r := &l.Readings[i]; {
		case r.Source == l.Trusted:
			l.Value, r.LeftOut = r.Value, ""
		case r.LeftOut == "":
			r.LeftOut = "the operator trusts " + l.Trusted
		}
	}
}

// explainNone explains why a leg has no value.
func (s *Service) explainNone(domain scope.Domain, leg Leg, fresh, agreeing int) error {
	pair := leg.Base + "/" + leg.Quote
	why := fault.NewMessage("%d of the %d sources needed agree", agreeing, minimum)
	switch {
	case s.Sources[domain] == nil:
		why = fault.NewMessage("no source of prices is set up")
	case fresh == 0 && slices.ContainsFunc(leg.Readings,
		func(r Reading) bool { return r.refused != "" }):
		why = fault.NewMessage("what the rate sources say can't be believed")
	case fresh == 0:
		why = fault.NewMessage("no rate source is reachable")
	case agreeing == 0:
		why = fault.NewMessage("the sources disagree")
	}
	return fault.Retry("rate_unavailable", again,
		"There is no trustworthy rate for %s now: %s. Try again in half a minute.", pair, why)
}

// listReadings returns what the domain's sources say of a pair. Sources that price a
// coin in USDT count, too, converted by the dollar price that USDT itself has now.
func (s *Service) listReadings(domain scope.Domain, p Pair, now time.Time) []Reading {
	from := s.Sources[domain]
	if from == nil {
		return nil
	}
	readings := from.Readings(p)
	tether := string(money.USDT)
	if p.Quote != "USD" || p.Base == tether || !isCoin(p) {
		return readings
	}
	others := from.Readings(Pair{Base: p.Base, Quote: tether})
	if len(others) == 0 {
		return readings
	}
	rate, err := s.buildLeg(domain, Pair{Base: tether, Quote: "USD"}, now)
	if err != nil {
		return readings
	}
	for _, r := range others {
		r.Via = r.Value.String() + " " + tether + " at " + rate.Value.String()
		r.Value = r.Value.Mul(rate.Value)
		readings = append(readings, r)
	}
	return readings
}

// medianOf returns the middle of the readings that count, and how many they are.
func medianOf(readings []Reading) (decimal.Decimal, int) {
	values := make([]decimal.Decimal, 0, 8)
	for _, r := range readings {
		if r.LeftOut == "" {
			values = append(values, r.Value)
		}
	}
	return middleValue(values), len(values)
}

// middleValue sorts values and gives their median; zero when there are none.
func middleValue(values []decimal.Decimal) decimal.Decimal {
	n := len(values)
	if n == 0 {
		return decimal.Zero
	}
	slices.SortFunc(values, decimal.Decimal.Cmp)
	if n%2 == 1 {
		return values[n/2]
	}
	return values[n/2-1].Add(values[n/2]).Mul(half)
}

var half = decimal.New(5, -1)

// Leg is what a pair is worth now, with its evidence; Unavailable when nothing
// trustworthy is known.
func (s *Service) Leg(domain scope.Domain, p Pair) (Leg, error) {
	return s.buildLeg(domain, p, s.Clock())
}
