package signin

import (
	"cointill/handlers/page"
)

// signOut ends the session.
func (h *Handlers) signOut(c *page.Ctx) error {
	c.Session.SignOut()
	return c.Redirect("/sign-in?signed_out=1")
}
