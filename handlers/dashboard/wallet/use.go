package wallet

import (
	"cointill/core/golive"
	"cointill/core/money"
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
	if network, _ := h.Networks.Network(c.Scope.Domain, info.Chain); network.IsSandbox() {
		return h.rehearseWallet(c, info, key, script)
	}
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
	return h.refuseUse(c, info, refused)
}

// rehearseWallet is useWallet in the sandbox, where a wallet receives nothing.
func (h *Handlers) rehearseWallet(c *page.Ctx, info money.CoinInfo, key, script string) error {
	err := h.Rehearsals.RehearseWallet(c.UserContext(), c.Scope, golive.Change{Chain: info.Chain, Key: key,
		Script: script, Proof: page.ReadProof(c)})
	if err != nil {
		return h.refuseUse(c, info, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "golive.rehearsed", "Coin", info.Name))
	return c.Redirect(page.GoingLivePath)
}

// refuseUse shows the second step again, with why the wallet isn't used.
func (h *Handlers) refuseUse(c *page.Ctx, info money.CoinInfo, refused error) error {
	key, script := c.FormValue("key"), c.FormText("script")
	preview, err := h.readerOf(c, info).Preview(c.UserContext(), c.Scope, info.Chain, key, script)
	if err != nil {
		return h.refuseWallet(c, info, err)
	}
	page.SetRetryAfter(c, refused)
	// The form comes back empty: never a password.
	return page.ShowAgain(c, ui.Form{}, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showReview(c, status, review{Coin: info, Preview: preview, Form: typed})
	})
}
