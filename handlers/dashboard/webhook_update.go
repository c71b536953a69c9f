package dashboard

import (
	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/ui"
)

// webhookUpdate changes the name and the address of an endpoint.
func (h *Handlers) webhookUpdate(c *page.Ctx) error {
	typed := form(c, "type", "url")
	name, url := typed.Value("type"), typed.Value("url")
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, c.Param("id"), webhook.Change{Name: &name, URL: &url})
	if err != nil {
		status, err := refuse(&typed, err)
		if err != nil {
			return err
		}
		return h.showWebhook(c, webhookShown{Status: status, Form: typed})
	}
	c.Flash(string(ui.Good), "Saved.")
	return c.Redirect(webhookPath(changed.ID))
}
