package webhooks

import (
	"cointill/core/scope"
	"cointill/core/webhook/delivery"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listEndpoints lists the endpoints; a business may have 50 in a domain, so there is one page.
func (h *Handlers) listEndpoints(c *page.Ctx) error {
	ctx, sc, zone := c.UserContext(), c.Scope, page.LoadZone(c.Member.Business)
	endpoints, _, err := h.Webhooks.List(ctx, sc, "", 100)
	if err != nil {
		return err
	}
	latest, err := h.Deliveries.LatestDeliveries(ctx, sc)
	if err != nil {
		return err
	}
	props := dashboard.WebhooksProps{Page: c.FillLayout(words.T(ctx, "webhook.title"), "webhooks"),
		Manage: sc.Allows(scope.ManageWebhooks)}
	for _, e := range endpoints {
		var last *delivery.Delivery
		if d, any := latest[e.ID]; any {
			last = &d
		}
		props.Rows = append(props.Rows, webhookRow(ctx, e, last, zone))
	}
	return c.Render(dashboard.Webhooks(props))
}
