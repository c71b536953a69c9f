package people

import (
	"net/http"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showEmailForm is the form of another address.
func (h *Handlers) showEmailForm(c *page.Ctx) error { return h.showEmail(c, http.StatusOK, ui.Form{}) }

func (h *Handlers) showEmail(c *page.Ctx, status int, typed ui.Form) error {
	shell := c.FillLayout(words.T(c.UserContext(), "account.change_your_address"), "account")
	shell.NextPath = display.AccountPath + "/email"
	props := dashboard.EmailProps{Page: shell, Form: typed, SecondFactor: c.Member.User.SecondFactor,
		NoServer: !h.MailServer}
	return c.RenderStatus(status, dashboard.Email(props))
}

// changeEmail mails a link to the new address. The answer is the same when another user has
// the address.
func (h *Handlers) changeEmail(c *page.Ctx) error {
	if !h.MailServer {
		return h.showEmailForm(c)
	}
	typed := page.ReadForm(c, "email")
	if refused := h.Users.AskEmail(c.UserContext(), c.Scope, typed.Value("email"),
		page.ReadProof(c)); refused != nil {
		page.SetRetryAfter(c, refused)
		return page.ShowAgain(c, typed, refused, h.showEmail)
	}
	c.SetFlash(string(ui.Info), words.T(c.UserContext(), "account.link_went", "Email", typed.Value("email")))
	return c.Redirect(display.AccountPath)
}
