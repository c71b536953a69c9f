package people

import (
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showPassword is the form of another password.
func (h *Handlers) showPassword(c *page.Ctx, status int, typed ui.Form) error {
	shell := c.FillLayout(words.T(c.UserContext(), "account.change_your_password"), "account")
	shell.NextPath = display.AccountPath + "/password"
	return c.RenderStatus(status, dashboard.Password(dashboard.PasswordProps{Page: shell, Form: typed}))
}

// changePassword changes the password; the session goes on under a new id.
func (h *Handlers) changePassword(c *page.Ctx) error {
	refused := h.Users.ChangePassword(c.UserContext(), c.Scope, page.ReadProof(c), c.FormValue("new_password"),
		c.Session.Key())
	if refused != nil {
		page.SetRetryAfter(c, refused)
		return page.ShowAgain(c, ui.Form{}, refused, h.showPassword) // never a password
	}
	c.Session.Rotate()
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "account.password_is_changed"))
	return c.Redirect(display.AccountPath)
}
