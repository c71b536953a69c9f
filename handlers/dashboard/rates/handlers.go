// Package rates shows what coins cost and on what evidence, and changes how a currency is
// priced.
package rates

import (
	"cointill/core/clock"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Clock  clock.Clock
	Quotes *quote.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/rates", scope.SeeMethods, h.showRates)
	m.Get("/dashboard/rates/:currency", scope.SeeMethods, h.showPolicy)
	m.Post("/dashboard/rates/:currency", scope.ManageBusiness, h.setPolicy)
}
