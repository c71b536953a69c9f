package dashboard

import (
	"cointill/core/receiving"
	"cointill/handlers/page"
	"cointill/views/ui"
)

// walletUse makes a key what a coin is received with. Sent twice it changes
// nothing the second time.
func (h *Handlers) walletUse(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	key, script := c.FormValue("key"), c.Text("script")
	_, changed, refused := h.Receiving.Change(c.UserContext(), c.Scope, receiving.Change{
		Chain: info.Chain, Key: key, Script: script, Password: c.FormValue("password"), IP: c.ClientIP,
	})
	switch {
	case refused == nil && changed:
		c.Flash(string(ui.Good), info.Name+" payments now go to this "+held(info)+". Every owner gets a mail about it.")
		return c.Redirect(walletPath(info))
	case refused == nil:
		c.Flash(string(ui.Info), info.Name+" payments go to this "+held(info)+" already.")
		return c.Redirect(walletPath(info))
	}
	preview, err := h.Wallets.Preview(c.UserContext(), c.Scope, info.Chain, key, script)
	if err != nil {
		return h.walletKeyRefused(c, info, err)
	}
	retryAfter(c, refused)
	typed := ui.Form{} // never a password
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	return h.showReview(c, status, review{Coin: info, Preview: preview, Form: typed})
}
