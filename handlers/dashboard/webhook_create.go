package dashboard

import (
	"context"
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookForm is the form of a new endpoint, which will receive events.
func (h *Handlers) webhookForm(c *page.Ctx) error {
	typed := ui.Form{Values: map[string]string{"active": "true"}}
	return h.showWebhookForm(c, http.StatusOK, typed, webhook.Endpoint{})
}

// webhookCreate registers an endpoint and shows its secret, once.
func (h *Handlers) webhookCreate(c *page.Ctx) error {
	typed := form(c, webhookFields()...)
	made, secret, err := h.secretOnce(c, func(ctx context.Context) (webhook.Endpoint, string, error) {
		return h.Webhooks.Create(ctx, c.Scope, webhook.Create{
			Name: typed.Value("type"), URL: typed.Value("url"), Active: typed.On("active"), Types: typesIn(typed), Headers: headersIn(typed),
		})
	})
	if err != nil {
		status, err := refuse(&typed, err)
		if err != nil {
			return err
		}
		return h.showWebhookForm(c, status, typed, webhook.Endpoint{})
	}
	said := layout.Flash{Kind: string(ui.Good), Text: words.T(c.UserContext(), "webhook.registered")}
	return h.renderWebhook(c, made, webhookShown{Status: http.StatusCreated, Said: said, Secret: secret})
}

// showWebhookForm shows the form of an endpoint; a new one has no id.
func (h *Handlers) showWebhookForm(c *page.Ctx, status int, typed ui.Form, e webhook.Endpoint) error {
	title := words.T(c.UserContext(), "webhook.add")
	if e.ID != "" {
		title = words.T(c.UserContext(), "webhook.edit_page", "Name", e.Name)
	}
	shell := c.Layout(title, "webhooks")
	if shell.NextPath = webhooksPath + "/new"; e.ID != "" {
		shell.NextPath = webhooksPath
	}
	return c.RenderStatus(status, dashboard.WebhookForm(webhookFormProps(c.UserContext(), shell, typed, e)))
}
