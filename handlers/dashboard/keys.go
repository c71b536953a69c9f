package dashboard

import (
	"net/http"

	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// keys lists the API keys.
func (h *Handlers) keys(c *page.Ctx) error {
	return h.showKeys(c, keysShown{Status: http.StatusOK})
}

// keysShown is how the page of the keys is answered.
type keysShown struct {
	Status int
	Form   ui.Form
	Said   layout.Flash
	Made   newKey
}

func (h *Handlers) showKeys(c *page.Ctx, shown keysShown) error {
	keys, err := h.Accounts.Keys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.Layout(words.T(c.UserContext(), "keys.api_keys"), "keys")
	shell.NextPath = "/dashboard/keys"
	if shown.Said.Text != "" {
		shell.Flash = shown.Said
	}
	at := timed{Now: h.Clock(), Zone: zoneOf(c.Member.Business)}
	return c.RenderStatus(shown.Status, dashboard.Keys(keysProps(shell, keys, shown.Form, shown.Made, c.BaseURL, at)))
}

// keyRefused shows the keys with what was wrong about an act.
func (h *Handlers) keyRefused(c *page.Ctx, refused error) error {
	said, status, err := objection(refused)
	if err != nil {
		return err
	}
	return h.showKeys(c, keysShown{Status: status, Said: said})
}
