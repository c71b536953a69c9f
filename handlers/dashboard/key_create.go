package dashboard

import (
	"context"
	"net/http"

	"cointill/core/account"
	"cointill/handlers/page"
)

// keyCreate makes a key of the chosen domain and shows it, once.
func (h *Handlers) keyCreate(c *page.Ctx) error {
	typed := form(c, "name")
	key, secret, err := h.keyOnce(c, func(ctx context.Context) (account.Key, string, error) {
		return h.Accounts.CreateKey(ctx, c.Scope, typed.Value("name"))
	})
	if err != nil {
		status, err := refuse(&typed, err)
		if err != nil {
			return err
		}
		return h.showKeys(c, keysShown{Status: status, Form: typed})
	}
	return h.showKeys(c, keysShown{Status: http.StatusCreated, Made: newKey{Name: key.Name, Secret: secret}})
}
