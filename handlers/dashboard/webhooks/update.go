package webhooks

import (
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// editEndpointForm is the form of an endpoint that there is.
func (h *Handlers) editEndpointForm(c *page.Ctx) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	return h.renderEndpointForm(c, http.StatusOK, ui.Form{Values: webhookValues(endpoint)}, endpoint)
}

// updateEndpoint changes an endpoint to what its form says.
func (h *Handlers) updateEndpoint(c *page.Ctx) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	typed := page.ReadForm(c, webhookFields()...)
	name, url, types, headers := typed.Value("type"), typed.Value("url"), typesIn(typed), headersIn(typed)
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, endpoint.ID,
		webhook.Change{Name: &name, URL: &url, Types: &types, Headers: &headers})
	if err != nil {
		return page.ShowAgain(c, typed, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.renderEndpointForm(c, status, typed, endpoint)
		})
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "webhook.saved"))
	return c.Redirect(display.WebhookPath(changed.ID))
}
