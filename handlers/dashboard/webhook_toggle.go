package dashboard

import (
	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookToggle switches an endpoint on or off; switching it on forgives its
// failures, and says what it missed meanwhile.
func (h *Handlers) webhookToggle(c *page.Ctx) error {
	active, err := switchedOn(c, "active")
	if err != nil {
		return err
	}
	changed, err := h.Webhooks.Update(c.UserContext(), c.Scope, c.Param("id"), webhook.Change{Active: &active})
	if err != nil {
		return h.webhookRefused(c, err)
	}
	to := back(c, webhookPath(changed.ID))
	if active && to == webhooksPath { // the endpoint's own page says it anyway
		missed, err := h.Webhooks.Missed(c.UserContext(), c.Scope, changed.ID)
		if err != nil {
			return err
		}
		if missed.Count > 0 {
			c.Flash(string(ui.Info), missedText(c.UserContext(), missed, true, zoneOf(c.Member.Business))+" "+words.T(c.UserContext(), "webhook.missed_open", "Name", changed.Name))
		}
	}
	return c.Redirect(to)
}
