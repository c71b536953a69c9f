package developers

import (
	"context"
	"net/http"

	"cointill/core/account/apikey"
	"cointill/handlers/page"
)

// createKey makes a key of the chosen domain and shows it, once.
func (h *Handlers) createKey(c *page.Ctx) error {
	typed := page.ReadForm(c, "name")
	key, secret, err := h.createKeyOnce(c, func(ctx context.Context) (apikey.Key, string, error) {
		return h.Keys.CreateKey(ctx, c.Scope, typed.Value("name"))
	})
	if err != nil {
		status, err := page.RefuseForm(&typed, err)
		if err != nil {
			return err
		}
		return h.showKeys(c, keysShown{Status: status, Form: typed})
	}
	return h.showKeys(c, keysShown{Status: http.StatusCreated, Made: newKey{Name: key.Name, Secret: secret}})
}
