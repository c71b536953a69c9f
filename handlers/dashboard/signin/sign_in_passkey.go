package signin

import (
	"cointill/handlers/page"
	"cointill/views/ui"
)

// beginPasskeySignIn gives a script what the browser needs to answer with a passkey. It
// says no more than that it refuses: the page has the sentences.
func (h *Handlers) beginPasskeySignIn(c *page.Ctx) error {
	options, refused := h.Passkeys.AskPasskey(c.UserContext(), c.Session.Key(), c.ClientIP)
	if refused != nil {
		return refused
	}
	c.Type("json", "utf-8")
	return c.Send(options)
}

// signInByPasskey opens a session under a new id by what the browser answered.
func (h *Handlers) signInByPasskey(c *page.Ctx) error {
	user, refused := h.Passkeys.EnterPasskey(c.UserContext(), c.Session.Key(), []byte(c.FormValue("credential")),
		c.ClientIP)
	if refused == nil {
		if err := h.signInUser(c, user, false); err != nil {
			return err
		}
		return c.Redirect(page.LocalPath(page.DashboardPath(c.FormText("next")), "/dashboard"))
	}
	return page.ShowAgain(c, ui.Form{}, refused, h.showSignIn)
}
