package developers

import (
	"context"
	"net/http"

	"cointill/core/account/apikey"
	"cointill/handlers/page"
)

// rollKey makes a key that replaces another, and shows it, once.
func (h *Handlers) rollKey(c *page.Ctx) error {
	id, err := page.ReadID(c, "API key")
	if err != nil {
		return err
	}
	key, secret, err := h.createKeyOnce(c, func(ctx context.Context) (apikey.Key, string, error) {
		return h.Keys.RollKey(ctx, c.Scope, id)
	})
	if err != nil {
		return h.refuseKey(c, err)
	}
	return h.showKeys(c, keysShown{Status: http.StatusCreated, Made: newKey{Name: key.Name, Secret: secret}})
}
