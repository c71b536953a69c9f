package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// webhooks lists the endpoints; a business may have 50 in a domain, so there is one page.
func (h *Handlers) webhooks(c *page.Ctx) error {
	ctx, sc, zone := c.UserContext(), c.Scope, zoneOf(c.Member.Business)
	endpoints, _, err := h.Webhooks.List(ctx, sc, "", 100)
	if err != nil {
		return err
	}
	props := dashboard.WebhooksProps{Page: c.Layout("Webhooks", "webhooks")}
	for _, e := range endpoints {
		latest, err := h.Webhooks.Deliveries(ctx, sc, e.ID, 1)
		if err != nil {
			return err
		}
		row := webhookRow(e, nil, zone)
		if len(latest) > 0 {
			row = webhookRow(e, &latest[0], zone)
		}
		props.Rows = append(props.Rows, row)
	}
	return c.Render(dashboard.Webhooks(props))
}
