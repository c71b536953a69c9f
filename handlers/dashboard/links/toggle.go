package links

import (
	"cointill/handlers/page"
)

// toggleLink switches a payment link on or off.
func (h *Handlers) toggleLink(c *page.Ctx) error {
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	active, err := page.ReadSwitch(c, "active")
	if err != nil {
		return err
	}
	if err := h.Links.SetActive(c.UserContext(), c.Scope, id, active); err != nil {
		return err
	}
	return c.Redirect(page.ReturnPath(c, linkPath(id)))
}
