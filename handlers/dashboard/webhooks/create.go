package webhooks

import (
	"context"
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// newEndpointForm is the form of a new endpoint, which will receive events.
func (h *Handlers) newEndpointForm(c *page.Ctx) error {
	typed := ui.Form{Values: map[string]string{"active": "true"}}
	return h.renderEndpointForm(c, http.StatusOK, typed, webhook.Endpoint{})
}

// createEndpoint registers an endpoint and shows its secret, once.
func (h *Handlers) createEndpoint(c *page.Ctx) error {
	typed := page.ReadForm(c, webhookFields()...)
	made, secret, err := h.createSecretOnce(c, func(ctx context.Context) (webhook.Endpoint, string, error) {
		return h.Webhooks.Create(ctx, c.Scope, webhook.Create{
			Name: typed.Value("type"), URL: typed.Value("url"), Active: typed.On("active"), Types: typesIn(typed),
			Headers: headersIn(typed),
		})
	})
	if err != nil {
		return page.ShowAgain(c, typed, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.renderEndpointForm(c, status, typed, webhook.Endpoint{})
		})
	}
	c.ShowMessage(string(ui.Good), words.T(c.UserContext(), "webhook.registered"))
	return h.renderEndpointPage(c, made, webhookShown{Status: http.StatusCreated, Secret: secret})
}

// renderEndpointForm shows the form of an endpoint; a new one has no id.
func (h *Handlers) renderEndpointForm(c *page.Ctx, status int, typed ui.Form, e webhook.Endpoint) error {
	title := words.T(c.UserContext(), "webhook.add")
	if e.ID != "" {
		title = words.T(c.UserContext(), "webhook.edit_page", "Name", e.Name)
	}
	shell := c.FillLayout(title, "webhooks")
	if shell.NextPath = display.WebhooksPath + "/new"; e.ID != "" {
		shell.NextPath = display.WebhooksPath
	}
	return c.RenderStatus(status, dashboard.WebhookForm(webhookFormProps(c.UserContext(), shell, typed, e)))
}
