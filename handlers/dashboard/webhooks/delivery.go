package webhooks

import (
	"context"
	"net/http"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// deliveryFacts is what the page of a delivery is made of.
type deliveryFacts struct {
	Scope    scope.Scope
	Endpoint webhook.Endpoint
	Delivery delivery.Delivery
	Attempts []delivery.Attempt // oldest first
	Event    webhook.Recorded
}

// resendDelivery sends one event to one endpoint again.
func (h *Handlers) resendDelivery(c *page.Ctx) error {
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (int, error) {
		return h.Deliveries.Redeliver(ctx, c.Scope, c.Param("event"), c.Param("id"))
	},
		func(int) string { return display.DeliveryPath(c.Param("id"), c.Param("event")) })
	if fault.KindOf(err) == fault.Gone { // its content: the page itself is still there
		c.ShowMessage(string(ui.Bad), page.ExplainError(err).SentenceIn(c.UserContext()))
		return h.showDelivery(c, http.StatusGone)
	}
	if err != nil {
		return page.ShowRefusal(c, err, h.showDelivery)
	}
	c.SetFlash(string(ui.Info), words.T(c.UserContext(), "webhook.on_its_way"))
	return nil
}

// showDelivery shows an event for an endpoint with all that was sent and answered.
func (h *Handlers) showDelivery(c *page.Ctx, status int) error {
	facts, err := h.loadDelivery(c, c.Param("id"), c.Param("event"))
	if err != nil {
		return err
	}
	shell := c.FillLayout(facts.Event.Type, "webhooks")
	shell.NextPath = display.WebhooksPath
	return c.RenderStatus(status,
		dashboard.Delivery(deliveryProps(c.UserContext(), shell, facts, page.LoadZone(c.Member.Business))))
}

// loadDelivery collects what there is of an event for an endpoint. One that was
// skipped has no attempts.
func (h *Handlers) loadDelivery(c *page.Ctx, endpointID, eventID string) (f deliveryFacts, err error) {
	ctx, sc := c.UserContext(), c.Scope
	f.Scope = sc
	if f.Endpoint, err = h.Webhooks.Find(ctx, sc, endpointID); err != nil {
		return f, err
	}
	if f.Event, err = h.Webhooks.Event(ctx, sc, eventID); err != nil {
		return f, err
	}
	f.Delivery, f.Attempts, err = h.Deliveries.DeliveryOf(ctx, sc, endpointID, eventID)
	return f, err
}
