package signin

import (
	"cointill/core/account"
	"cointill/handlers/page"
)

// signInUser signs a user in, and notes the browser.
func (h *Handlers) signInUser(c *page.Ctx, user account.User, expected bool) error {
	visit := account.Visit{Device: c.Session.Device(), UserAgent: c.Get("User-Agent"), IP: c.ClientIP}
	device, err := h.Profiles.Arrive(c.UserContext(), user, visit, expected)
	if err != nil {
		return err
	}
	c.Session.SetDevice(device)
	c.Session.SignIn(user.ID)
	return nil
}
