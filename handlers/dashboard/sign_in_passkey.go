package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/ui"
)

// passkeyAsk gives a script what the browser needs to answer with a passkey. It
// says no more than that it refuses: the page has the sentences.
func (h *Handlers) passkeyAsk(c *page.Ctx) error {
	options, refused := h.Profiles.AskPasskey(c.UserContext(), c.Session.Key(), c.ClientIP)
	if refused != nil {
		return refused
	}
	c.Type("json", "utf-8")
	return c.Send(options)
}

// signInPasskey opens a session under a new id by what the browser answered.
func (h *Handlers) signInPasskey(c *page.Ctx) error {
	user, refused := h.Profiles.EnterPasskey(c.UserContext(), c.Session.Key(), []byte(c.FormValue("credential")), c.ClientIP)
	if refused == nil {
		if err := h.arrive(c, user, false); err != nil {
			return err
		}
		return c.Redirect(page.Local(inside(c.Text("next")), "/dashboard"))
	}
	var typed ui.Form
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	return h.showSignIn(c, status, typed)
}
