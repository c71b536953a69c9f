package signin

import (
	"cointill/core/account/auth"
	"cointill/handlers/page"
)

// signInUser signs a user in, and notes the browser.
func (h *Handlers) signInUser(c *page.Ctx, user auth.User, expected bool) error {
	visit := auth.Visit{Device: c.Session.Device(), UserAgent: c.Get("User-Agent"), IP: c.ClientIP}
	device, err := h.Users.Arrive(c.UserContext(), user, visit, expected)
	if err != nil {
		return err
	}
	c.Session.SetDevice(device)
	c.Session.SignIn(user.ID)
	return nil
}
