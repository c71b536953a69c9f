package dashboard

import (
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookEdit is the form of an endpoint that there is.
func (h *Handlers) webhookEdit(c *page.Ctx) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	return h.showWebhookForm(c, http.StatusOK, ui.Form{Values: webhookValues(endpoint)}, endpoint)
}

// webhookUpdate changes an endpoint to what its form says.
func (h *Handlers) webhookUpdate(c *page.Ctx) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	typed := form(c, webhookFields()...)
	name, url, types, headers := typed.Value("type"), typed.Value("url"), typesIn(typed), headersIn(typed)
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, endpoint.ID, webhook.Change{Name: &name, URL: &url, Types: &types, Headers: &headers})
	if err != nil {
		status, err := refuse(&typed, err)
		if err != nil {
			return err
		}
		return h.showWebhookForm(c, status, typed, endpoint)
	}
	c.Flash(string(ui.Good), words.T(c.UserContext(), "webhook.saved"))
	return c.Redirect(webhookPath(changed.ID))
}
