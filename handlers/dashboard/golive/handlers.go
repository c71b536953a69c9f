// Package golive shows the checklist for going live, tests the nodes, and starts test payments.
package golive

import (
	"context"

	"cointill/core/account"
	"cointill/core/golive"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/page"
	"cointill/models"
)

// Checklist is what these pages need of core/golive.
type Checklist interface {
	ReadProgress(ctx context.Context, sc scope.Scope) (golive.Progress, error)
	TestNodes(ctx context.Context, sc scope.Scope) ([]golive.NodeTest, error)
	StartTrial(ctx context.Context, sc scope.Scope, method money.Method, currency money.Currency) (payment.Started, error)
}

// Accounts is what these pages need of core/account.
type Accounts interface {
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
}

// Links is what these pages need of core/link.
type Links interface {
	ListPayable(ctx context.Context, sc scope.Scope) ([]money.CoinInfo, error)
}

// Pages is what these pages need of core/payment.
type Pages interface {
	PageURL(p models.Payment) string
}

// Wallets is what these pages need of core/wallet.
type Wallets interface {
	Active(ctx context.Context, sc scope.Scope, c money.Chain) (wallet.State, bool, error)
}

// Webhooks is what these pages need of core/webhook.
type Webhooks interface {
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Endpoint, string, error)
}

// Deliveries is what these pages need of core/webhook/delivery.
type Deliveries interface {
	LatestDeliveries(ctx context.Context, sc scope.Scope) (map[string]delivery.Delivery, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Checklist  Checklist
	Accounts   Accounts
	Links      Links
	Pages      Pages
	Wallets    Wallets
	Webhooks   Webhooks
	Deliveries Deliveries
	Networks   payment.Networks
	Answers    *idempotency.Store
}

// Addresses of these pages.
const (
	nodesPath   = page.GoingLivePath + "/nodes"
	paymentPath = page.GoingLivePath + "/payment"
)

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(page.GoingLivePath, scope.SeeMethods, h.showChecklist)
	m.Get(nodesPath, scope.SeeMethods, h.returnToChecklist)
	m.Post(nodesPath, scope.ToggleMethods, h.testNodes)
	m.Get(paymentPath, scope.SeeMethods, h.returnToChecklist)
	m.Post(paymentPath, scope.StartPayments, h.startTrial)
}

// returnToChecklist is where the address of a form leads that was not sent along.
func (h *Handlers) returnToChecklist(c *page.Ctx) error { return c.Redirect(page.GoingLivePath) }
