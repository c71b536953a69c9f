package webhooks

import (
	"cointill/core/webhook"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// toggleEndpoint switches an endpoint on or off. Switching it on resets its failures and shows
// how many events it missed.
func (h *Handlers) toggleEndpoint(c *page.Ctx) error {
	active, err := page.ReadSwitch(c, "active")
	if err != nil {
		return err
	}
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, c.Param("id"), webhook.Change{Active: &active})
	if err != nil {
		return h.refuseEndpoint(c, err)
	}
	to := page.ReturnPath(c, display.WebhookPath(changed.ID))
	if active && to == display.WebhooksPath { // the endpoint's own page says it anyway
		missed, err := h.Deliveries.Missed(c.UserContext(), c.Scope, changed.ID)
		if err != nil {
			return err
		}
		if missed.Count > 0 {
			c.SetFlash(string(ui.Info), missedText(c.UserContext(), missed, true, page.LoadZone(c.Member.Business))+" "+
				words.T(c.UserContext(), "webhook.missed_open", "Name", changed.Name))
		}
	}
	return c.Redirect(to)
}
