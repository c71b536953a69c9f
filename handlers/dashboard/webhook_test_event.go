package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/ui"
)

// webhookTest sends a test event to one endpoint.
func (h *Handlers) webhookTest(c *page.Ctx) error {
	id := c.Param("id")
	if _, err := h.Webhooks.SendTest(c.UserContext(), c.Scope, id); err != nil {
		return h.webhookRefused(c, err)
	}
	c.Flash(string(ui.Info), "A test event is on its way. Load the page again in a moment to see what your server answered.")
	return c.Redirect(webhookPath(id))
}
