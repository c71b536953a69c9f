package developers

import (
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// revokeKey ends a key at once.
func (h *Handlers) revokeKey(c *page.Ctx) error {
	id, err := page.ReadID(c, "API key")
	if err != nil {
		return err
	}
	if err := h.Keys.RevokeKey(c.UserContext(), c.Scope, id); err != nil {
		return h.refuseKey(c, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "keys.key_is_revoked"))
	return c.Redirect("/dashboard/keys")
}
