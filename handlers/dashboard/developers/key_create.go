package developers

import (
	"context"
	"net/http"

	"cointill/core/account/apikey"
	"cointill/handlers/page"
	"cointill/views/ui"
)

// createKey makes a key of the chosen domain and shows it, once.
func (h *Handlers) createKey(c *page.Ctx) error {
	typed := page.ReadForm(c, append(permissionFields(), "name")...)
	var chosen []apikey.Permission
	for _, p := range apikey.ListPermissions() {
		if typed.On(permissionField(p)) {
			chosen = append(chosen, p)
		}
	}
	key, secret, err := h.createKeyOnce(c, func(ctx context.Context) (apikey.Key, string, error) {
		return h.Keys.CreateRestrictedKey(ctx, c.Scope, typed.Value("name"), chosen)
	})
	if err != nil {
		return page.ShowAgain(c, typed, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.showKeys(c, keysShown{Status: status, Form: typed})
		})
	}
	return h.showKeys(c, keysShown{Status: http.StatusCreated, Made: newKey{Name: key.Name, Secret: secret}})
}

// permissionField names the checkbox of a permission.
func permissionField(p apikey.Permission) string { return "permission." + string(p) }

// permissionFields names the checkboxes of all permissions.
func permissionFields() (names []string) {
	for _, p := range apikey.ListPermissions() {
		names = append(names, permissionField(p))
	}
	return names
}
