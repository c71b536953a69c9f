// Package rates shows what coins cost and on what evidence, and changes how a currency is
// priced.
package rates

import (
	"context"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Quotes is what these pages need of core/quote.
type Quotes interface {
	Price(domain scope.Domain, coin money.Coin, currency money.Currency, policy quote.Policy) (quote.Quote, error)
	Policies(ctx context.Context, sc scope.Scope) (map[money.Currency]quote.Policy, error)
	SetPolicy(ctx context.Context, sc scope.Scope, currency money.Currency, p quote.Policy) error
	HasStreet(domain scope.Domain, currency money.Currency) bool
	Pairs() []quote.Pair
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
	History(ctx context.Context, p quote.Pair, since time.Time, step time.Duration) ([]quote.Point, error)
	Healths(ctx context.Context) ([]quote.Health, error)
	Alarms(healths []quote.Health) []string
	Wanted(ctx context.Context) (bool, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Clock  clock.Clock
	Quotes Quotes
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/rates", scope.SeeMethods, h.showRates)
	m.Get("/dashboard/rates/:currency", scope.SeeMethods, h.showPolicy)
	m.Post("/dashboard/rates/:currency", scope.ManageBusiness, h.setPolicy)
}
