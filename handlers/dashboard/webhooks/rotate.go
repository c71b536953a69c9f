package webhooks

import (
	"context"
	"net/http"

	"cointill/core/webhook"
	"cointill/handlers/page"
)

// rotateSecret gives an endpoint a new secret and shows it, once.
func (h *Handlers) rotateSecret(c *page.Ctx) error {
	changed, secret, err := h.createSecretOnce(c, func(ctx context.Context) (webhook.Endpoint, string, error) {
		return h.Webhooks.RotateSecret(ctx, c.Scope, c.Param("id"))
	})
	if err != nil {
		return h.refuseEndpoint(c, err)
	}
	return h.renderEndpointPage(c, changed, webhookShown{Status: http.StatusOK, Secret: secret, Replaced: true})
}
