package rates

import (
	"context"
	"time"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

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

// showRates shows what coins cost, by which rules, and on what evidence.
func (h *Handlers) showRates(c *page.Ctx) error {
	ctx, sc := c.UserContext(), c.Scope
	policies, err := h.Quotes.Policies(ctx, sc)
	if err != nil {
		return err
	}
	facts := ratesFacts{Scope: sc, Now: h.Clock(), Policies: policies, Range: rangeNamed(c.Query("range"))}
	if facts.Prices, err = h.listPrices(ctx, sc.Domain, policies); err != nil {
		return err
	}
	if facts.Pairs, err = h.listPairs(ctx, sc.Domain); err != nil {
		return err
	}
	for i, p := range facts.Pairs {
		if p.Pair.String() == c.Query("pair") {
			facts.Chosen = i
		}
	}
	if sc.Domain == scope.Live {
		if err := h.loadLiveFacts(ctx, &facts); err != nil {
			return err
		}
	}
	return c.Render(dashboard.Rates(ratesProps(ctx, c.FillLayout(words.T(ctx, "rates.title"), "rates"), facts,
		page.LoadZone(c.Member.Business))))
}

// listPrices returns the price of every coin in every currency by the rules of a business.
func (h *Handlers) listPrices(ctx context.Context, domain scope.Domain,
	policies map[money.Currency]quote.Policy) (list []priced, err error) {
	for _, coin := range money.Coins() {
		for _, currency := range money.Currencies() {
			p := priced{Coin: coin, Currency: currency}
			p.Quote, err = h.Quotes.Price(domain, coin.Coin, currency, policies[currency])
			if p.Why, err = display.DescribeUnavailable(ctx, err); err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// listPairs are what the sources of a domain say. The fixed table of the test
// domain has no street.
func (h *Handlers) listPairs(ctx context.Context, domain scope.Domain) (list []pairFacts, err error) {
	for _, pair := range h.Quotes.Pairs() {
		if domain == scope.Test && pair.Base == string(money.USDT) && pair.Quote != "USD" {
			continue
		}
		p := pairFacts{Pair: pair}
		p.Leg, err = h.Quotes.Leg(domain, pair)
		if p.Why, err = display.DescribeUnavailable(ctx, err); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// loadLiveFacts adds the history of the chosen pair and how the sources do.
func (h *Handlers) loadLiveFacts(ctx context.Context, f *ratesFacts) (err error) {
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
