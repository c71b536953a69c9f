// Package golive shows the checklist for going live, tests the nodes, and starts test payments.
package golive

import (
	"cointill/core/golive"
	"cointill/core/idempotency"
	"cointill/core/link"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Checklist  *golive.Service
	Links      *link.Service
	Pages      *payment.Service
	Wallets    *wallet.Service
	Webhooks   *webhook.Service
	Deliveries *delivery.Service
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
