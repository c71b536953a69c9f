// Package overview shows the first page of the dashboard: figures of a period, what needs
// attention, and the steps that are left of setting up.
package overview

import (
	"context"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
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

// Accounts is what these pages need of core/account.
type Accounts interface {
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
}

// Books is what these pages need of core/journal.
type Books interface {
	ListSales(ctx context.Context, sc scope.Scope, p journal.Period) ([]journal.DaySales, error)
}

// Deliveries is what these pages need of core/webhook/delivery.
type Deliveries interface {
	LastFailures(ctx context.Context, sc scope.Scope) (map[string]delivery.Delivery, error)
}

// Keys is what these pages need of core/account/apikey.
type Keys interface {
	ListKeys(ctx context.Context, sc scope.Scope) ([]apikey.Key, error)
}

// Figures is what these pages need of core/stats.
type Figures interface {
	ReadFigures(ctx context.Context, sc scope.Scope, p stats.Period) (stats.Figures, error)
}

// Lists is what these pages need of core/payment/list.
type Lists interface {
	Search(ctx context.Context, sc scope.Scope, f list.Filter) (list.Page, error)
	Waiting(ctx context.Context, sc scope.Scope) (list.Waiting, error)
}

// Quotes is what these pages need of core/quote.
type Quotes interface {
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
}

// Sends is what these pages need of core/send.
type Sends interface {
	Totals(ctx context.Context, sc scope.Scope, since time.Time) ([]send.Total, error)
}

// Wallets is what these pages need of core/wallet.
type Wallets interface {
	Active(ctx context.Context, sc scope.Scope, c money.Chain) (wallet.State, bool, error)
}

// Webhooks is what these pages need of core/webhook.
type Webhooks interface {
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Endpoint, string, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   Accounts
	Books      Books
	Clock      clock.Clock
	Deliveries Deliveries
	Figures    Figures
	Keys       Keys
	Networks   payment.Networks // which network serves a coin, and its health
	Lists      Lists
	Quotes     Quotes
	Sends      Sends
	Wallets    Wallets
	Webhooks   Webhooks
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	// Every role may see the payment methods: the weakest right that a member has.
	m.Get("/dashboard", scope.SeeMethods, h.showOverview)
	m.Post("/dashboard/steps", scope.SeePayments, h.hideSteps)
}
