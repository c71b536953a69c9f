package webhooks

import (
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// deleteEndpoint removes an endpoint.
func (h *Handlers) deleteEndpoint(c *page.Ctx) error {
	if err := h.Webhooks.Delete(c.UserContext(), c.Scope, c.Param("id")); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "webhook.deleted"))
	return c.Redirect("/dashboard/webhooks")
}
