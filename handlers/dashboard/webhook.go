package dashboard

import (
	"net/http"
	"time"

	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// webhook shows one endpoint.
func (h *Handlers) webhook(c *page.Ctx) error {
	return h.showWebhook(c, webhookShown{Status: http.StatusOK})
}

// webhookShown is how the page of an endpoint is answered.
type webhookShown struct {
	Status int
	Form   ui.Form // what was typed and refused; empty shows what is saved
	Said   layout.Flash
	Secret string // just made; Replaced says that an older one signs along
	// Replaced is false for the first secret of an endpoint.
	Replaced bool
}

func (h *Handlers) showWebhook(c *page.Ctx, shown webhookShown) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	return h.renderWebhook(c, endpoint, shown)
}

func (h *Handlers) renderWebhook(c *page.Ctx, endpoint webhook.Endpoint, shown webhookShown) error {
	deliveries, err := h.Webhooks.Deliveries(c.UserContext(), c.Scope, endpoint.ID, listSize)
	if err != nil {
		return err
	}
	shell := c.Layout("Webhook "+endpoint.Name, "webhooks")
	shell.NextPath = webhookPath(endpoint.ID)
	if shown.Said.Text != "" {
		shell.Flash = shown.Said
	}
	props := webhookProps(shell, endpoint, deliveries, shown.Form, zoneOf(c.Member.Business))
	props.Secret, props.NewSecret = shown.Secret, shown.Replaced
	if !shown.Replaced {
		props.OldUntil = time.Time{}
	}
	return c.RenderStatus(shown.Status, dashboard.Webhook(props))
}

func webhookPath(id string) string { return "/dashboard/webhooks/" + id }

// webhookRefused shows the endpoint's page with what was wrong about an act.
func (h *Handlers) webhookRefused(c *page.Ctx, refused error) error {
	said, status, err := objection(refused)
	if err != nil {
		return err
	}
	return h.showWebhook(c, webhookShown{Status: status, Said: said})
}
