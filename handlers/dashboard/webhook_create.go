package dashboard

import (
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// webhookForm is the form of a new endpoint, which will receive events.
func (h *Handlers) webhookForm(c *page.Ctx) error {
	props := dashboard.WebhookFormProps{Page: c.Layout("Add an endpoint", "webhooks"), Form: ui.Form{Values: map[string]string{"active": "true"}}}
	return c.Render(dashboard.WebhookForm(props))
}

// webhookCreate registers an endpoint and shows its secret, once.
func (h *Handlers) webhookCreate(c *page.Ctx) error {
	typed := form(c, "type", "url", "active")
	made, secret, err := h.Webhooks.Create(c.UserContext(), c.Scope, webhook.Create{
		Name: typed.Value("type"), URL: typed.Value("url"), Active: typed.On("active"),
	})
	if err != nil {
		status, err := refuse(&typed, err)
		if err != nil {
			return err
		}
		return c.RenderStatus(status, dashboard.WebhookForm(dashboard.WebhookFormProps{Page: c.Layout("Add an endpoint", "webhooks"), Form: typed}))
	}
	said := layout.Flash{Kind: string(ui.Good), Text: "The endpoint is registered."}
	return h.renderWebhook(c, made, webhookShown{Status: http.StatusCreated, Said: said, Secret: secret})
}
