package dashboard

import (
	"context"
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/page"
)

// webhookRotate gives an endpoint a new secret and shows it, once.
func (h *Handlers) webhookRotate(c *page.Ctx) error {
	changed, secret, err := h.secretOnce(c, func(ctx context.Context) (webhook.Endpoint, string, error) {
		return h.Webhooks.RotateSecret(ctx, c.Scope, c.Param("id"))
	})
	if err != nil {
		return h.webhookRefused(c, err)
	}
	return h.renderWebhook(c, changed, webhookShown{Status: http.StatusOK, Secret: secret, Replaced: true})
}
