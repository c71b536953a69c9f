package dashboard

import (
	"context"
	"net/http"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// deliveryFacts is what the page of a delivery is made of.
type deliveryFacts struct {
	Scope    scope.Scope
	Endpoint webhook.Endpoint
	Delivery webhook.Delivery
	Attempts []webhook.Attempt // oldest first
	Event    webhook.Recorded
}

// delivery shows an event for an endpoint with all that was sent and answered.
func (h *Handlers) delivery(c *page.Ctx) error {
	return h.showDelivery(c, http.StatusOK, layout.Flash{})
}

// deliveryResend sends one event to one endpoint again.
func (h *Handlers) deliveryResend(c *page.Ctx) error {
	err := once(h.Answers, c, func(ctx context.Context) (int, error) {
		return h.Webhooks.Redeliver(ctx, c.Scope, c.Param("event"), c.Param("id"))
	},
		func(int) string { return deliveryPath(c.Param("id"), c.Param("event")) })
	if fault.KindOf(err) == fault.Gone { // its content: the page itself is still there
		return h.showDelivery(c, http.StatusGone, layout.Flash{Kind: string(ui.Bad), Text: page.Explain(err).Sentence})
	}
	if err != nil {
		said, status, err := objection(err)
		if err != nil {
			return err
		}
		return h.showDelivery(c, status, said)
	}
	c.Flash(string(ui.Info), words.T(c.UserContext(), "webhook.on_its_way"))
	return nil
}

func (h *Handlers) showDelivery(c *page.Ctx, status int, said layout.Flash) error {
	facts, err := h.delivered(c, c.Param("id"), c.Param("event"))
	if err != nil {
		return err
	}
	shell := c.Layout(facts.Event.Type, "webhooks")
	shell.NextPath = webhooksPath
	if said.Text != "" {
		shell.Flash = said
	}
	return c.RenderStatus(status, dashboard.Delivery(deliveryProps(c.UserContext(), shell, facts, zoneOf(c.Member.Business))))
}

// delivered collects what there is of an event for an endpoint. One that was
// skipped has no attempts.
func (h *Handlers) delivered(c *page.Ctx, endpointID, eventID string) (f deliveryFacts, err error) {
	ctx, sc := c.UserContext(), c.Scope
	f.Scope = sc
	if f.Endpoint, err = h.Webhooks.Find(ctx, sc, endpointID); err != nil {
		return f, err
	}
	if f.Event, err = h.Webhooks.Event(ctx, sc, eventID); err != nil {
		return f, err
	}
	f.Delivery, f.Attempts, err = h.Webhooks.DeliveryOf(ctx, sc, endpointID, eventID)
	return f, err
}

func deliveryPath(endpointID, eventID string) string {
	return webhookPath(endpointID) + "/deliveries/" + eventID
}
