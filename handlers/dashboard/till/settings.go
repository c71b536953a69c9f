package till

import (
	"net/http"

	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showSettings shows the page about tills.
func (h *Handlers) showSettings(c *page.Ctx) error {
	typed := ui.Form{Values: map[string]string{"domain": c.Member.Business.TillDomain}}
	return h.renderSettings(c, http.StatusOK, typed)
}

func (h *Handlers) renderSettings(c *page.Ctx, status int, typed ui.Form) error {
	has, err := h.Tills.HasPIN(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "till.title"), "till")
	shell.NextPath = settingsPath
	return c.RenderStatus(status, dashboard.TillSettings(dashboard.TillSettingsProps{Page: shell, Form: typed, HasPIN: has,
		Manage: c.Scope.Allows(scope.SetTillPIN), RoleDomain: c.Member.Business.TillDomain}))
}

// saveSettings sets the PIN, unless the field is empty and there is one, and the domain of the till role.
func (h *Handlers) saveSettings(c *page.Ctx) error {
	ctx, typed := c.UserContext(), page.ReadForm(c, "domain")
	pin := c.FormText("pin") // never shown again
	has, err := h.Tills.HasPIN(ctx, c.Scope)
	if err == nil && (pin != "" || !has) {
		err = h.Tills.SetPIN(ctx, c.Scope, pin)
	}
	if err == nil {
		err = h.Tills.SetDomain(ctx, c.Scope, scope.Domain(typed.Value("domain")))
	}
	if err == nil {
		c.SetFlash(string(ui.Good), words.T(ctx, "till.saved"))
		return c.Redirect(settingsPath)
	}
	status, err := page.RefuseForm(c.UserContext(), &typed, err)
	if err != nil {
		return err
	}
	return h.renderSettings(c, status, typed)
}
