package developers

import (
	"net/http"

	"cointill/core/account/apikey"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// listKeys lists the API keys.
func (h *Handlers) listKeys(c *page.Ctx) error {
	return h.showKeys(c, keysShown{Status: http.StatusOK})
}

// keysShown is how the page of the keys is answered.
type keysShown struct {
	Status int
	Form   ui.Form
	Made   newKey
}

func (h *Handlers) showKeys(c *page.Ctx, shown keysShown) error {
	keys, err := h.Keys.ListKeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "keys.api_keys"), "keys")
	shell.NextPath = "/dashboard/keys"
	if shown.Form.Values == nil { // nothing was typed: the usual permissions are ticked
		shown.Form.Values = map[string]string{}
		for _, p := range apikey.DefaultPermissions(c.Scope.Domain) {
			shown.Form.Values[permissionField(p)] = "true"
		}
	}
	at := display.Moment{Now: h.Clock(), Zone: page.LoadZone(c.Member.Business)}
	props := keysProps(shell, keys, shown.Form, shown.Made, c.BaseURL, at)
	props.Permissions = permissionChoices(c.UserContext())
	return c.RenderStatus(shown.Status, dashboard.Keys(props))
}

// refuseKey shows the keys with the error of an action.
func (h *Handlers) refuseKey(c *page.Ctx, refused error) error {
	return page.ShowRefusal(c, refused, func(c *page.Ctx, status int) error {
		return h.showKeys(c, keysShown{Status: status})
	})
}
