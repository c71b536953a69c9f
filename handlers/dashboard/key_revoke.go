package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// keyRevoke ends a key at once.
func (h *Handlers) keyRevoke(c *page.Ctx) error {
	id, err := number(c, "API key")
	if err != nil {
		return err
	}
	if err := h.Accounts.RevokeKey(c.UserContext(), c.Scope, id); err != nil {
		return h.keyRefused(c, err)
	}
	c.Flash(string(ui.Good), words.T(c.UserContext(), "keys.key_is_revoked"))
	return c.Redirect("/dashboard/keys")
}
