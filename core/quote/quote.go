// Package quote turns fiat prices into coin amounts on evidence: every price
// is the median of several fresh, agreeing sources per leg, and the quote
// keeps each of them, so that a payment can always prove its price.
//
// The Keeper requests prices from the sources, one replica at a time, and stores the
// plausible ones; the Board caches the stored prices in the memory of every replica;
// the Service prices from it, by the policy of the business.
package quote

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
)

// Pair is a currency with the one that it is priced in; fiat currencies by ISO code.
type Pair = source.Pair

// Reading is one source's value for a leg.
type Reading struct {
	Source string          `json:"source"`
	Value  decimal.Decimal `json:"value"`
	At     time.Time       `json:"at"`
	// Via tells how the value was converted: "58012.1 USDT at 0.9998"; empty when it wasn't.
	Via string `json:"via,omitempty"`
	// LeftOut says why the reading doesn't count ("stale", "off by 3.1 %"); empty when it does.
	LeftOut string `json:"left_out,omitempty"`
	// Private says that the source's terms forbid to pass its value on to others.
	Private bool `json:"-"`

	refused string // why what the source said since was refused; "" when it wasn't
}

// Leg is one price that a quote rests on: units of Quote for one Base.
type Leg struct {
	Base     string          `json:"base"`
	Quote    string          `json:"quote"`
	Value    decimal.Decimal `json:"value"` // median of the readings that count
	Readings []Reading       `json:"readings"`
	// Divides says that the price is divided by this leg, not multiplied.
	Divides bool `json:"divides,omitempty"`
	// Trusted names the one source that the operator trusts alone, where it was needed.
	Trusted string `json:"trusted,omitempty"`
}

// Quote is a price for one whole coin, with its evidence. It is stored with a payment as JSON.
type Quote struct {
	Coin     money.Coin      `json:"coin"`
	Currency money.Currency  `json:"currency"`
	Price    decimal.Decimal `json:"price"`     // fiat units for one whole coin, the spread within
	PriceUSD decimal.Decimal `json:"price_usd"` // without any spread, for tiers by value
	// Market is whose fiat rate it is: Official, Street or Manual. Empty in
	// quotes from before there was a choice, which are official.
	Market Market `json:"market,omitempty"`
	// Spread is the part of the market's price, in basis points, that the coin is
	// counted for less.
	Spread int       `json:"spread,omitempty"`
	Legs   []Leg     `json:"legs"`
	At     time.Time `json:"at"`
}

// Source returns readings of pairs from memory, without waiting.
type Source interface {
	// Readings returns the current readings of a pair, each with its own time.
	Readings(p Pair) []Reading
}

// Service quotes for both domains. Its fields are set once, before use.
type Service struct {
	DB    *models.DB // for the policies of businesses
	Clock clock.Clock
	// Sources per domain; a domain without one can't quote.
	Sources map[scope.Domain]Source
	// Trusted names, by pair, the source that an operator trusts alone when
	// fewer than two agree.
	Trusted map[Pair]string
	// Bands are how far from the median a source may be, by coin or currency
	// (ISO), where that isn't the usual.
	Bands map[string]decimal.Decimal
	// Asked are the sources that are set up for the live domain.
	Asked []source.Source

	policies models.Batcher[scope.Scope, struct{}, map[money.Currency]Policy]
}

// Quote prices one whole coin in a currency by the business's policy. It is
// Unavailable when there is no trustworthy rate, and names the leg and when to try
// again.
func (s *Service) Quote(ctx context.Context, sc scope.Scope, coin money.Coin, currency money.Currency) (Quote, error) {
	policies, err := s.policies.Get(ctx, sc, struct{}{}, s.readPolicies)
	if err != nil {
		return Quote{}, err
	}
	return s.Price(sc.Domain, coin, currency, policies[currency])
}

// Price prices one whole coin by a policy, from memory alone.
func (s *Service) Price(domain scope.Domain, coin money.Coin, currency money.Currency, policy Policy) (Quote, error) {
	now := s.Clock()
	usd, err := s.buildLeg(domain, Pair{Base: string(coin), Quote: "USD"}, now)
	if err != nil {
		return Quote{}, err
	}
	q := Quote{Coin: coin, Currency: currency, PriceUSD: usd.Value, Market: policy.At(currency, now),
		Spread: policy.Spread, At: now}
	q.Legs, err = s.buildLegs(domain, usd, q, policy)
	if err != nil {
		return Quote{}, err
	}
	market := decimal.NewFromInt(1)
	for _, leg := range q.Legs {
		if !leg.Divides {
			market = market.Mul(leg.Value)
		}
	}
	for _, leg := range q.Legs {
		if leg.Divides {
			market = market.DivRound(leg.Value, pricePlaces)
		}
	}
	q.Price = market.Mul(decimal.New(wholeSpread-int64(policy.Spread), -4))
	return q, nil
}

// pricePlaces are the decimals of a price that had to be divided: far more than
// any amount of a coin that is charged can tell apart.
const pricePlaces = 16

// buildLegs returns what a quote is the product of, which depends on its market.
func (s *Service) buildLegs(domain scope.Domain, usd Leg, q Quote, policy Policy) ([]Leg, error) {
	fiat := Pair{Base: "USD", Quote: q.Currency.ISOCode()}
	switch {
	case q.Currency == money.USD:
		return []Leg{usd}, nil
	case q.Market == Manual:
		return []Leg{usd, policy.manualLeg(fiat)}, nil
	case q.Market == Official:
		leg, err := s.buildLeg(domain, fiat, q.At)
		return []Leg{usd, leg}, err
	}
	// The street has no rate of the dollar, but one of the dollar's coin.
	street, err := s.buildLeg(domain, Pair{Base: string(money.USDT), Quote: fiat.Quote}, q.At)
	if err != nil || q.Coin == money.USDT {
		return []Leg{street}, err
	}
	tether, err := s.buildLeg(domain, Pair{Base: string(money.USDT), Quote: "USD"}, q.At)
	tether.Divides = true
	return []Leg{usd, tether, street}, err
}

// MarketPrice is the price without the spread.
func (q Quote) MarketPrice() decimal.Decimal {
	if q.Spread == 0 {
		return q.Price
	}
	return q.Price.DivRound(decimal.New(wholeSpread-int64(q.Spread), -4), pricePlaces)
}
