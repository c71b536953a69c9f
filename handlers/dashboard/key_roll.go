package dashboard

import (
	"context"
	"net/http"

	"cointill/core/account"
	"cointill/handlers/page"
)

// keyRoll makes a key that replaces another, and shows it, once.
func (h *Handlers) keyRoll(c *page.Ctx) error {
	id, err := number(c, "API key")
	if err != nil {
		return err
	}
	key, secret, err := h.keyOnce(c, func(ctx context.Context) (account.Key, string, error) {
		return h.Accounts.RollKey(ctx, c.Scope, id)
	})
	if err != nil {
		return h.keyRefused(c, err)
	}
	return h.showKeys(c, keysShown{Status: http.StatusCreated, Made: newKey{Name: key.Name, Secret: secret}})
}
