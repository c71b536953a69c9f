package dashboard

import (
	"strconv"
	"strings"
	"time"

	"cointill/core/account"
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// signInForm leads on to sign-up where nobody has signed up yet.
func (h *Handlers) signInForm(c *page.Ctx) error {
	empty, err := h.Accounts.Empty(c.UserContext())
	if err != nil {
		return err
	}
	if empty {
		return c.Redirect("/sign-up")
	}
	props := dashboard.SignInProps{CSRF: c.Session.FormToken(), Next: inside(c.Query("next"))}
	if c.Query("signed_out") != "" {
		props.Notice = "You are signed out."
	}
	return c.Render(dashboard.SignIn(props))
}

// signIn opens a session under a new id.
func (h *Handlers) signIn(c *page.Ctx) error {
	user, refused := h.Accounts.SignIn(c.UserContext(), account.Credentials{
		Email: c.Text("email"), Password: c.FormValue("password"), IP: c.ClientIP,
	})
	next := inside(c.Text("next"))
	if refused == nil {
		c.Session.SignIn(user.ID)
		return c.Redirect(page.Local(next, "/dashboard"))
	}
	typed := form(c, "email") // never a password
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	if wait := page.Explain(refused).RetryAfter; wait > 0 {
		c.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	return c.RenderStatus(status, dashboard.SignIn(dashboard.SignInProps{Form: typed, CSRF: c.Session.FormToken(), Next: next}))
}

// inside is the path when it is one of the dashboard's, else "".
func inside(path string) string {
	if !strings.HasPrefix(path, "/dashboard") {
		return ""
	}
	return page.Local(path, "")
}
