package wallet

import (
	"cointill/core/receiving"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// The messages after a wallet was added or changed, and for an account of the XRP Ledger (true).
var (
	usedWord = map[bool]string{false: "wallet.wallet_used", true: "wallet.account_used"}
	sameWord = map[bool]string{false: "wallet.wallet_same", true: "wallet.account_same"}
)

// useWallet makes a key what a coin is received with. Sent twice it changes
// nothing the second time.
func (h *Handlers) useWallet(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	key, script := c.FormValue("key"), c.FormText("script")
	_, changed, refused := h.Receiving.ChangeWallet(c.UserContext(), c.Scope, receiving.Change{
		Chain: info.Chain, Key: key, Script: script, Proof: page.ReadProof(c),
	})
	switch {
	case refused == nil && changed:
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), usedWord[onLedger(info)], "Coin", info.Name))
		return c.Redirect(walletPath(info))
	case refused == nil:
		c.SetFlash(string(ui.Info), words.T(c.UserContext(), sameWord[onLedger(info)], "Coin", info.Name))
		return c.Redirect(walletPath(info))
	}
	preview, err := h.Wallets.Preview(c.UserContext(), c.Scope, info.Chain, key, script)
	if err != nil {
		return h.refuseWallet(c, info, err)
	}
	page.SetRetryAfter(c, refused)
	typed := ui.Form{} // never a password
	status, err := page.RefuseForm(&typed, refused)
	if err != nil {
		return err
	}
	return h.showReview(c, status, review{Coin: info, Preview: preview, Form: typed})
}
