package dashboard

import "cointill/handlers/page"

// linkToggle switches a payment link on or off.
func (h *Handlers) linkToggle(c *page.Ctx) error {
	id, err := number(c, "payment link")
	if err != nil {
		return err
	}
	active, err := switchedOn(c, "active")
	if err != nil {
		return err
	}
	if err := h.Links.SetActive(c.UserContext(), c.Scope, id, active); err != nil {
		return err
	}
	return c.Redirect(back(c, linkPath(id)))
}
