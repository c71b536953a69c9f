package signin

import (
	"net/http"

	"cointill/core/account"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showSignUpForm welcomes the person who just started this server. It is open
// until there is a business, and says how others are made afterwards.
func (h *Handlers) showSignUpForm(c *page.Ctx) error {
	empty, err := h.Accounts.Empty(c.UserContext())
	if err != nil {
		return err
	}
	if !empty {
		return c.Render(dashboard.SignUpClosed())
	}
	return c.Render(dashboard.SignUp(h.signUpProps(c, ui.Form{})))
}

// signUp makes the first business and signs its owner in.
func (h *Handlers) signUp(c *page.Ctx) error {
	_, user, err := h.Accounts.SignUp(c.UserContext(), account.NewBusiness{
		BusinessName: c.FormText("business_name"), Name: c.FormText("name"), Email: c.FormText("email"),
		Password: c.FormValue("password"), Language: words.LanguageOf(c.UserContext()),
		SetupToken: c.FormText("setup_token"), IP: c.ClientIP,
	})
	if err != nil {
		return h.refuseSignUp(c, err)
	}
	if err := h.signInUser(c, user, true); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sign_in.ready"))
	return c.Redirect("/dashboard")
}

func (h *Handlers) refuseSignUp(c *page.Ctx, refused error) error {
	if page.ExplainError(refused).Code == "sign_up_closed" {
		return c.RenderStatus(http.StatusForbidden, dashboard.SignUpClosed())
	}
	typed := page.ReadForm(c, "setup_token", "business_name", "name", "email") // never a password
	status, err := page.RefuseForm(c.UserContext(), &typed, refused)
	if err != nil {
		return err
	}
	page.SetRetryAfter(c, refused)
	return c.RenderStatus(status, dashboard.SignUp(h.signUpProps(c, typed)))
}

// signUpProps returns the sign-up form with the values that were typed.
func (h *Handlers) signUpProps(c *page.Ctx, typed ui.Form) dashboard.SignUpProps {
	return dashboard.SignUpProps{Form: typed, CSRF: c.Session.FormToken(), AskToken: h.Users.SetupTokenAsked()}
}
