// Package overview shows the first page of the dashboard: figures of a period, what needs
// attention, and the steps that are left of setting up.
package overview

import (
	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/stats"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   *account.Service
	Books      *journal.Service
	Clock      clock.Clock
	Deliveries *delivery.Service
	Figures    *stats.Service
	Keys       *apikey.Service
	Networks   payment.Networks // which network serves a coin, and its health
	Lists      *list.Service
	Quotes     *quote.Service
	Sends      *send.Service
	Wallets    *wallet.Service
	Webhooks   *webhook.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	// Every role may see the payment methods: the weakest right that a member has.
	m.Get("/dashboard", scope.SeeMethods, h.showOverview)
	m.Post("/dashboard/steps", scope.SeePayments, h.hideSteps)
}
