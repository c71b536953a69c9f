// Package quote turns fiat prices into coin amounts on evidence: every price
// is the median of several fresh, agreeing sources per leg, and the quote
// keeps each of them, so that a payment can show for ever why it cost what it cost.
package quote

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
)

// Freshness and agreement by leg (contract, Initiation rules).
const (
	coinAge  = 60 * time.Second
	fiatAge  = 26 * time.Hour
	coinBand = "0.02"
	fiatBand = "0.05"
)

// Reading is one source's value for a leg.
type Reading struct {
	Source string          `json:"source"`
	Value  decimal.Decimal `json:"value"`
	At     time.Time       `json:"at"`
	// LeftOut says why the reading doesn't count ("stale", "off by 3.1 %"); empty when it does.
	LeftOut string `json:"left_out,omitempty"`
}

// Leg is one price that a quote rests on: units of Quote for one Base.
type Leg struct {
	Base     string          `json:"base"`
	Quote    string          `json:"quote"`
	Value    decimal.Decimal `json:"value"` // median of the readings that count
	Readings []Reading       `json:"readings"`
}

// Quote is a price for one whole coin, with its evidence. It is stored with a payment as JSON.
type Quote struct {
	Coin     money.Coin      `json:"coin"`
	Currency money.Currency  `json:"currency"`
	Price    decimal.Decimal `json:"price"`     // fiat units for one whole coin
	PriceUSD decimal.Decimal `json:"price_usd"` // for tiers by value
	Legs     []Leg           `json:"legs"`
	At       time.Time       `json:"at"`
}

// Source gives readings of legs. Implementations answer from what they hold, without waiting.
type Source interface {
	// Readings returns what is known of base in units of quote (ISO codes), each with its own time.
	Readings(ctx context.Context, base, quote string) ([]Reading, error)
}

// Service quotes for both domains.
type Service struct {
	Clock clock.Clock
	// Sources per domain; a domain without sources can't quote.
	Sources map[scope.Domain][]Source
	// Minimum is how many agreeing sources a leg needs.
	Minimum int
}

// Quote prices one whole coin in a currency, or is Unavailable and says which leg failed and when to retry.
func (s *Service) Quote(ctx context.Context, domain scope.Domain, coin money.Coin, currency money.Currency) (Quote, error) {
	now := s.Clock()
	usd, err := s.leg(ctx, domain, string(coin), "USD", coinAge, coinBand)
	if err != nil {
		return Quote{}, err
	}
	q := Quote{Coin: coin, Currency: currency, Price: usd.Value, PriceUSD: usd.Value, Legs: []Leg{usd}, At: now}
	if currency != money.USD {
		fiat, err := s.leg(ctx, domain, "USD", currency.ISO(), fiatAge, fiatBand)
		if err != nil {
			return Quote{}, err
		}
		q.Price = usd.Value.Mul(fiat.Value)
		q.Legs = append(q.Legs, fiat)
	}
	return q, nil
}

// leg collects the readings of one leg, leaves out what is stale or disagrees, and takes the median.
func (s *Service) leg(ctx context.Context, domain scope.Domain, base, quote string, age time.Duration, band string) (Leg, error) {
	leg := Leg{Base: base, Quote: quote}
	for _, source := range s.Sources[domain] {
		readings, err := source.Readings(ctx, base, quote)
		if err != nil {
			continue // a source that fails gives no evidence; the count below decides
		}
		leg.Readings = append(leg.Readings, readings...)
	}
	now := s.Clock()
	for i := range leg.Readings {
		r := &leg.Readings[i]
		switch {
		case !r.Value.IsPositive():
			r.LeftOut = "not a price"
		case now.Sub(r.At) > age:
			r.LeftOut = "stale"
		}
	}
	middle, n := median(leg.Readings)
	if n > 0 {
		limit := middle.Mul(decimal.RequireFromString(band))
		for i := range leg.Readings {
			r := &leg.Readings[i]
			if r.LeftOut == "" && r.Value.Sub(middle).Abs().GreaterThan(limit) {
				r.LeftOut = "outside the band of " + band
			}
		}
		leg.Value, n = median(leg.Readings)
	}
	if n < s.Minimum || n == 0 {
		return leg, fault.Retry("rate_unavailable", fmt.Sprintf(
			"There is no trustworthy rate for %s/%s now: %d of the %d sources needed agree. Try again in a minute.", base, quote, n, max(s.Minimum, 1)), time.Minute)
	}
	return leg, nil
}

// median is the middle of the readings that count, and how many they are.
func median(readings []Reading) (decimal.Decimal, int) {
	var values []decimal.Decimal
	for _, r := range readings {
		if r.LeftOut == "" {
			values = append(values, r.Value)
		}
	}
	n := len(values)
	if n == 0 {
		return decimal.Zero, 0
	}
	sort.Slice(values, func(i, j int) bool { return values[i].LessThan(values[j]) })
	if n%2 == 1 {
		return values[n/2], n
	}
	return values[n/2-1].Add(values[n/2]).Div(decimal.NewFromInt(2)), n
}
