package signin

import (
	"net/http"

	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// showForgotForm asks where to send a link to.
func (h *Handlers) showForgotForm(c *page.Ctx) error {
	return c.Render(dashboard.Forgot(dashboard.ForgotProps{CSRF: c.Session.FormToken(), NoServer: !h.MailServer}))
}

// askReset mails a link to choose a new password. Its answer is the same for
// every address.
func (h *Handlers) askReset(c *page.Ctx) error {
	if !h.MailServer {
		return h.showForgotForm(c)
	}
	typed := page.ReadForm(c, "email")
	props := dashboard.ForgotProps{Form: typed, CSRF: c.Session.FormToken(), Sent: true}
	if refused := h.Users.AskReset(c.UserContext(), typed.Value("email"), c.ClientIP); refused != nil {
		page.SetRetryAfter(c, refused)
		status, err := page.RefuseForm(c.UserContext(), &props.Form, refused)
		if err != nil {
			return err
		}
		props.Sent = false
		return c.RenderStatus(status, dashboard.Forgot(props))
	}
	return c.Render(dashboard.Forgot(props))
}

// showResetForm is the form that a mailed link leads to. Looking at it uses nothing up.
func (h *Handlers) showResetForm(c *page.Ctx) error { return h.showReset(c, http.StatusOK, ui.Form{}) }

func (h *Handlers) showReset(c *page.Ctx, status int, typed ui.Form) error {
	user, err := h.Users.FindReset(c.UserContext(), c.Param("token"))
	if err != nil {
		return err
	}
	props := dashboard.ResetProps{Form: typed, CSRF: c.Session.FormToken(), Action: "/reset/" + c.Param("token"),
		Email: user.Email}
	return c.RenderStatus(status, dashboard.Reset(props))
}

// resetPassword changes the password that a mailed link is for, once.
func (h *Handlers) resetPassword(c *page.Ctx) error {
	if refused := h.Users.FinishReset(c.UserContext(), c.Param("token"), c.FormValue("password")); refused != nil {
		return page.ShowAgain(c, ui.Form{}, refused, h.showReset) // never a password
	}
	return c.Redirect("/sign-in?changed=1")
}
