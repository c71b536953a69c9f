package dashboard

import (
	"net/http"

	"cointill/handlers/page"
)

// webhookRotate gives an endpoint a new secret and shows it, once.
func (h *Handlers) webhookRotate(c *page.Ctx) error {
	changed, secret, err := h.Webhooks.RotateSecret(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return h.webhookRefused(c, err)
	}
	return h.renderWebhook(c, changed, webhookShown{Status: http.StatusOK, Secret: secret, Replaced: true})
}
