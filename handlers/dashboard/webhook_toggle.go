package dashboard

import (
	"cointill/core/webhook"
	"cointill/handlers/page"
)

// webhookToggle switches an endpoint on or off; switching it on forgives its failures.
func (h *Handlers) webhookToggle(c *page.Ctx) error {
	active := c.Text("active") == "true"
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, c.Param("id"), webhook.Change{Active: &active})
	if err != nil {
		return h.webhookRefused(c, err)
	}
	return c.Redirect(back(c, webhookPath(changed.ID)))
}
