// Package webhooks shows and changes webhook endpoints, their deliveries and resends, and
// checks signatures.
package webhooks

import (
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	Webhooks   *webhook.Service
	Deliveries *delivery.Service
	Resends    *delivery.Resends
	Signatures *diagnose.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/webhooks", scope.SeeWebhooks, h.listEndpoints)
	m.Get("/dashboard/webhooks/new", scope.ManageWebhooks, h.newEndpointForm)
	m.Post("/dashboard/webhooks", scope.ManageWebhooks, h.createEndpoint)
	m.Get(checkPath, scope.SeeWebhooks, h.showSignatureForm)
	m.Post(checkPath, scope.SeeWebhooks, h.checkSignature)
	m.Get(resendsPath, scope.SeeWebhooks, h.listResends)
	m.Get(resendsPath+"/review", scope.ManageWebhooks, h.reviewResend)
	m.Post(resendsPath, scope.ManageWebhooks, h.createResend)
	m.Get(resendsPath+"/:id", scope.SeeWebhooks, h.showResend)
	m.Get("/dashboard/webhooks/:id", scope.SeeWebhooks, h.showEndpoint)
	m.Get("/dashboard/webhooks/:id/edit", scope.ManageWebhooks, h.editEndpointForm)
	m.Get("/dashboard/webhooks/:id/deliveries/:event", scope.SeeWebhooks, page.ShowPage(h.showDelivery))
	m.Post("/dashboard/webhooks/:id/deliveries/:event/resend", scope.ManageWebhooks, h.resendDelivery)
	m.Post("/dashboard/webhooks/:id", scope.ManageWebhooks, h.updateEndpoint)
	m.Post("/dashboard/webhooks/:id/toggle", scope.ManageWebhooks, h.toggleEndpoint)
	m.Post("/dashboard/webhooks/:id/delete", scope.ManageWebhooks, h.deleteEndpoint)
	m.Post("/dashboard/webhooks/:id/rotate", scope.ManageWebhooks, h.rotateSecret)
	m.Post("/dashboard/webhooks/:id/test", scope.ManageWebhooks, h.sendTest)
}
