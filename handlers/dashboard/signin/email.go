package signin

import (
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showEmailConfirmation is the page that the link leads to. Looking at it changes nothing.
func (h *Handlers) showEmailConfirmation(c *page.Ctx) error {
	user, email, err := h.Users.FindEmail(c.UserContext(), c.Param("token"))
	if err != nil {
		return err
	}
	return c.Render(dashboard.EmailConfirm(dashboard.EmailConfirmProps{CSRF: c.Session.FormToken(),
		Action: "/email/" + c.Param("token"),
		Before: user.Email, After: email}))
}

// confirmEmail makes the new address the user's, once.
func (h *Handlers) confirmEmail(c *page.Ctx) error {
	if err := h.Users.ConfirmEmail(c.UserContext(), c.Param("token")); err != nil {
		return err
	}
	if c.Session.User() != 0 {
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "account.address_is_changed"))
		return c.Redirect(display.AccountPath)
	}
	return c.Redirect("/sign-in?confirmed=1")
}
