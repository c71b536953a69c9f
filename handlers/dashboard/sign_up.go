package dashboard

import (
	"cointill/core/account"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// signUpForm welcomes the person who just started this server. It is open
// until there is a business.
func (h *Handlers) signUpForm(c *page.Ctx) error {
	empty, err := h.Accounts.Empty(c.UserContext())
	if err != nil {
		return err
	}
	if !empty {
		return c.Redirect("/sign-in")
	}
	return c.Render(dashboard.SignUp(dashboard.SignUpProps{CSRF: c.Session.FormToken(), FirstRun: true}))
}

// signUp makes the first business and signs its owner in.
func (h *Handlers) signUp(c *page.Ctx) error {
	_, user, err := h.Accounts.SignUp(c.UserContext(), account.NewBusiness{
		BusinessName: c.Text("business_name"), Name: c.Text("name"), Email: c.Text("email"), Password: c.FormValue("password"),
	})
	if err != nil {
		typed := form(c, "business_name", "name", "email") // never a password
		return h.signUpRefused(c, typed, err)
	}
	if err := h.arrive(c, user, true); err != nil {
		return err
	}
	c.Flash(string(ui.Good), words.T(c.UserContext(), "sign_in.ready"))
	return c.Redirect("/dashboard")
}

func (h *Handlers) signUpRefused(c *page.Ctx, typed ui.Form, refused error) error {
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	return c.RenderStatus(status, dashboard.SignUp(dashboard.SignUpProps{Form: typed, CSRF: c.Session.FormToken(), FirstRun: true}))
}
