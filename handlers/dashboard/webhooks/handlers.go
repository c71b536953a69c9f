// Package webhooks shows and changes webhook endpoints, their deliveries and resends, and
// checks signatures.
package webhooks

import (
	"context"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/page"
)

// Webhooks is what these pages need of core/webhook.
type Webhooks interface {
	Create(ctx context.Context, sc scope.Scope, c webhook.Create) (webhook.Endpoint, string, error)
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Endpoint, string, error)
	Find(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, error)
	Update(ctx context.Context, sc scope.Scope, id string, c webhook.Change) (webhook.Endpoint, error)
	Delete(ctx context.Context, sc scope.Scope, id string) error
	RotateSecret(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, string, error)
	Event(ctx context.Context, sc scope.Scope, id string) (webhook.Recorded, error)
}

// Deliveries is what these pages need of core/webhook/delivery.
type Deliveries interface {
	SendTest(ctx context.Context, sc scope.Scope, id string) (eventID string, err error)
	History(ctx context.Context, sc scope.Scope, endpointID, state, after string, limit int) ([]delivery.Delivery,
		string, error)
	LastAttempts(ctx context.Context, sc scope.Scope, deliveries []delivery.Delivery) (map[int64]delivery.Attempt,
		error)
	Health(ctx context.Context, sc scope.Scope, endpointID string) (delivery.Health, error)
	Missed(ctx context.Context, sc scope.Scope, endpointID string) (delivery.Missed, error)
	DeliveryOf(ctx context.Context, sc scope.Scope, endpointID, eventID string) (delivery.Delivery, []delivery.Attempt,
		error)
	Redeliver(ctx context.Context, sc scope.Scope, eventID, endpointID string) (int, error)
	LatestDeliveries(ctx context.Context, sc scope.Scope) (map[string]delivery.Delivery, error)
}

// Resends is what these pages need of core/webhook/delivery.
type Resends interface {
	Check(o delivery.Order) fault.Fields
	Plan(ctx context.Context, sc scope.Scope, o delivery.Order) (delivery.Planned, error)
	Create(ctx context.Context, sc scope.Scope, o delivery.Order) (delivery.Resend, error)
	Find(ctx context.Context, sc scope.Scope, id string) (delivery.Resend, error)
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]delivery.Resend, string, error)
}

// Signatures is what these pages need of core/webhook/diagnose.
type Signatures interface {
	ExplainSignature(ctx context.Context, sc scope.Scope, endpointID string, p diagnose.Pasted) (diagnose.Verdict, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	Webhooks   Webhooks
	Deliveries Deliveries
	Resends    Resends
	Signatures Signatures
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
	m.Get("/dashboard/webhooks/:id/deliveries/:event", scope.SeeWebhooks, h.showDeliveryPage)
	m.Post("/dashboard/webhooks/:id/deliveries/:event/resend", scope.ManageWebhooks, h.resendDelivery)
	m.Post("/dashboard/webhooks/:id", scope.ManageWebhooks, h.updateEndpoint)
	m.Post("/dashboard/webhooks/:id/toggle", scope.ManageWebhooks, h.toggleEndpoint)
	m.Post("/dashboard/webhooks/:id/delete", scope.ManageWebhooks, h.deleteEndpoint)
	m.Post("/dashboard/webhooks/:id/rotate", scope.ManageWebhooks, h.rotateSecret)
	m.Post("/dashboard/webhooks/:id/test", scope.ManageWebhooks, h.sendTest)
}
