package dashboard

import (
	"context"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

const ratesPath = "/dashboard/rates"

// priced is the price of one coin in one currency, or why there is none.
type priced struct {
	Coin     money.CoinInfo
	Currency money.Currency
	Quote    quote.Quote
	Why      string
}

// pairFacts is a pair with what its sources say, and why it has no value.
type pairFacts struct {
	Pair quote.Pair
	Leg  quote.Leg
	Why  string
}

// ratesFacts is what the page of the rates is made of.
type ratesFacts struct {
	Scope    scope.Scope
	Now      time.Time
	Policies map[money.Currency]quote.Policy
	// Prices has the coins in their order, each in the currencies in theirs.
	Prices []priced
	Pairs  []pairFacts
	Chosen int // the pair that is looked at, in Pairs
	Range  chartRange
	// The rest is of the live domain only.
	Points  []quote.Point
	Healths []quote.Health
	Alarms  []string
	Wanted  bool
}

// rates shows what coins cost, by which rules, and on what evidence.
func (h *Handlers) rates(c *page.Ctx) error {
	ctx, sc := c.UserContext(), c.Scope
	policies, err := h.Quotes.Policies(ctx, sc)
	if err != nil {
		return err
	}
	facts := ratesFacts{Scope: sc, Now: h.Clock(), Policies: policies, Range: rangeNamed(c.Query("range"))}
	if facts.Prices, err = h.prices(sc.Domain, policies); err != nil {
		return err
	}
	if facts.Pairs, err = h.pairs(sc.Domain); err != nil {
		return err
	}
	for i, p := range facts.Pairs {
		if p.Pair.String() == c.Query("pair") {
			facts.Chosen = i
		}
	}
	if sc.Domain == scope.Live {
		if err := h.liveFacts(ctx, &facts); err != nil {
			return err
		}
	}
	return c.Render(dashboard.Rates(ratesProps(ctx, c.Layout(words.T(ctx, "rates.title"), "rates"), facts, zoneOf(c.Member.Business))))
}

// prices are those of every coin in every currency by the rules of a business.
func (h *Handlers) prices(domain scope.Domain, policies map[money.Currency]quote.Policy) (list []priced, err error) {
	for _, coin := range money.Coins() {
		for _, currency := range money.Currencies() {
			p := priced{Coin: coin, Currency: currency}
			p.Quote, err = h.Quotes.Price(domain, coin.Coin, currency, policies[currency])
			if p.Why, err = unavailable(err); err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// pairs are what the sources of a domain say. The fixed table of the test
// domain has no street.
func (h *Handlers) pairs(domain scope.Domain) (list []pairFacts, err error) {
	for _, pair := range h.Quotes.Pairs() {
		if domain == scope.Test && pair.Base == string(money.USDT) && pair.Quote != "USD" {
			continue
		}
		p := pairFacts{Pair: pair}
		p.Leg, err = h.Quotes.Leg(domain, pair)
		if p.Why, err = unavailable(err); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// liveFacts adds the history of the chosen pair and how the sources do.
func (h *Handlers) liveFacts(ctx context.Context, f *ratesFacts) (err error) {
	if len(f.Pairs) > 0 {
		f.Points, err = h.Quotes.History(ctx, f.Pairs[f.Chosen].Pair, f.Now.Add(-f.Range.Span), f.Range.Step)
		if err != nil {
			return err
		}
	}
	if f.Healths, err = h.Quotes.Healths(ctx); err != nil {
		return err
	}
	if f.Wanted, err = h.Quotes.Wanted(ctx); err != nil {
		return err
	}
	if f.Wanted {
		f.Alarms = h.Quotes.Alarms(f.Healths)
	}
	return nil
}

// legs gives what the sources say of a pair.
type legs interface {
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
}

// unpriced tells why live methods that are on can't be priced in any currency,
// by coin. In the test domain everything has a price.
func unpriced(quotes legs, sc scope.Scope, methods []account.Method) (map[money.Coin]string, error) {
	reasons := map[money.Coin]string{}
	if sc.Domain != scope.Live {
		return reasons, nil
	}
	for _, m := range methods {
		if !m.Enabled {
			continue
		}
		_, err := quotes.Leg(sc.Domain, quote.Pair{Base: string(m.Coin.Coin), Quote: string(money.USD)})
		why, err := unavailable(err)
		if err != nil {
			return nil, err
		}
		if why != "" {
			reasons[m.Coin.Coin] = why
		}
	}
	return reasons, nil
}

// unavailable is why there is no price, in words; other errors are passed on.
func unavailable(err error) (why string, unexpected error) {
	if err == nil || fault.KindOf(err) != fault.Unavailable {
		return "", err
	}
	return page.Explain(err).Sentence, nil
}
