package till

import (
	"net/http"

	"cointill/core/scope"
	"cointill/core/till"
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
		Manage: c.Scope.Allows(scope.SetTillPIN)}))
}

// saveSettings sets the PIN, unless the field is empty and there is one, and the domain of the till role.
func (h *Handlers) saveSettings(c *page.Ctx) error {
	ctx, typed := c.UserContext(), page.ReadForm(c, "domain")
	// The PIN is never shown again.
	chosen := till.Settings{PIN: c.FormText("pin"), Domain: scope.Domain(typed.Value("domain"))}
	err := h.Tills.SaveSettings(ctx, c.Scope, chosen)
	if err == nil {
		c.SetFlash(string(ui.Good), words.T(ctx, "till.saved"))
		return c.Redirect(settingsPath)
	}
	return page.ShowAgain(c, typed, err, h.renderSettings)
}
