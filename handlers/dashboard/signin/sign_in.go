package signin

import (
	"net/url"

	"cointill/core/account/auth"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showSignInForm redirects to sign-up while there is no user.
func (h *Handlers) showSignInForm(c *page.Ctx) error {
	empty, err := h.Accounts.Empty(c.UserContext())
	if err != nil {
		return err
	}
	if empty {
		return c.Redirect("/sign-up")
	}
	props := h.signInProps(c, ui.Form{}, page.DashboardPath(c.Query("next")))
	for why, notice := range map[string]string{
		"signed_out": "sign_in.signed_out", "removed": "sign_in.removed",
		"changed": "sign_in.changed", "confirmed": "sign_in.confirmed",
	} {
		if c.Query(why) != "" {
			props.Notice = words.T(c.UserContext(), notice)
		}
	}
	return c.Render(dashboard.SignIn(props))
}

// signInProps is the sign-in page with the typed values.
func (h *Handlers) signInProps(c *page.Ctx, typed ui.Form, next string) dashboard.SignInProps {
	return dashboard.SignInProps{Form: typed, CSRF: c.Session.FormToken(), Next: next,
		PasskeyOrigin: h.Passkeys.PasskeyOrigin()}
}

// showSignIn shows the page of signing in again, with why it was refused.
func (h *Handlers) showSignIn(c *page.Ctx, status int, typed ui.Form) error {
	return c.RenderStatus(status, dashboard.SignIn(h.signInProps(c, typed, page.DashboardPath(c.FormText("next")))))
}

// keyPending is what the session keeps of a sign-in that still needs a code.
const keyPending = "pending"

// signIn opens a session under a new id, or asks for the code of the second factor.
func (h *Handlers) signIn(c *page.Ctx) error {
	entry, refused := h.Users.SignIn(c.UserContext(), auth.Credentials{
		Email: c.FormText("email"), Password: c.FormValue("password"), IP: c.ClientIP, Device: c.Session.Device(),
	})
	next := page.DashboardPath(c.FormText("next"))
	if refused == nil && entry.Pending != "" {
		c.Session.SignIn(0) // without a user yet, under another id than before the password
		c.Session.Set(keyPending, entry.Pending)
		return c.Redirect("/sign-in/code?next=" + url.QueryEscape(next))
	}
	if refused == nil {
		if err := h.signInUser(c, entry.User, false); err != nil {
			return err
		}
		return c.Redirect(page.LocalPath(next, "/dashboard"))
	}
	typed := page.ReadForm(c, "email") // never a password
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, typed, refused, h.showSignIn)
}

// showCodeForm asks for the code, when a password was right a moment ago.
func (h *Handlers) showCodeForm(c *page.Ctx) error {
	if c.Session.Value(keyPending) == "" {
		return c.Redirect("/sign-in")
	}
	return c.Render(dashboard.SignInCode(dashboard.CodeProps{CSRF: c.Session.FormToken(),
		Next: page.DashboardPath(c.Query("next"))}))
}

// enterCode finishes a sign-in with a code.
func (h *Handlers) enterCode(c *page.Ctx) error {
	next := page.DashboardPath(c.FormText("next"))
	user, left, refused := h.Users.EnterCode(c.UserContext(), c.Session.Value(keyPending), c.FormText("code"),
		c.ClientIP)
	if refused == nil {
		if err := h.signInUser(c, user, false); err != nil {
			return err
		}
		if left >= 0 {
			c.SetFlash(string(ui.Warn), words.N(c.UserContext(), "sign_in.used_code", left))
		}
		return c.Redirect(page.LocalPath(next, "/dashboard"))
	}
	var typed ui.Form
	status, err := page.RefuseForm(c.UserContext(), &typed, refused)
	if err != nil {
		return err
	}
	if page.ExplainError(refused).Code == "sign_in_expired" {
		c.Session.Set(keyPending, "")
		return h.showSignIn(c, status, typed)
	}
	page.SetRetryAfter(c, refused)
	return c.RenderStatus(status,
		dashboard.SignInCode(dashboard.CodeProps{Form: typed, CSRF: c.Session.FormToken(), Next: next}))
}
