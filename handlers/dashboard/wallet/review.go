package wallet

import (
	"context"
	"net/http"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// reviewWallet shows what a key is read as, with its first addresses, and whether
// an address that was sent along is among them; or how an account of the XRP Ledger
// is set up now. It stores nothing.
func (h *Handlers) reviewWallet(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	keys := h.readerOf(c, info)
	preview, err := keys.Preview(c.UserContext(), c.Scope, info.Chain, c.FormValue("key"), c.FormText("script"))
	if err != nil {
		return h.refuseWallet(c, info, err)
	}
	typed, looked := ui.Form{Values: map[string]string{}},
		lookedFor{Asked: c.FormText("address") != "" && preview.Account == nil}
	status := http.StatusOK
	if looked.Asked {
		looked.Index, looked.Found, err = keys.Find(c.UserContext(), c.Scope, info.Chain, preview.Key,
			preview.Script, c.FormText("address"))
		typed.Values["address"] = publicAddress(c.FormText("address"))
	}
	if err != nil {
		looked.Asked = false
		if status, err = page.RefuseForm(c.UserContext(), &typed, err); err != nil {
			return err
		}
	}
	return h.showReview(c, status, review{Coin: info, Preview: preview, Form: typed, Looked: looked})
}

// keyReader reads keys and accounts.
type keyReader interface {
	Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (wallet.Preview, error)
	Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64, ok bool,
		err error)
}

// readerOf returns what reads the keys of a coin: in the sandbox, rehearsals do.
func (h *Handlers) readerOf(c *page.Ctx, info money.CoinInfo) keyReader {
	if network, _ := h.Networks.Network(c.Scope.Domain, info.Chain); network.IsSandbox() {
		return h.Rehearsals
	}
	return h.Wallets
}

// lookedFor is the result of searching an address that a merchant entered.
type lookedFor struct {
	Asked, Found bool
	Index        int64
}

// review is what the second step shows.
type review struct {
	Coin    money.CoinInfo
	Preview wallet.Preview
	Form    ui.Form
	Looked  lookedFor
}

func (h *Handlers) showReview(c *page.Ctx, status int, r review) error {
	facts, err := h.loadWallet(c, r.Coin)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "wallet.page", "Coin", r.Coin.Name), "methods")
	shell.NextPath = walletPath(r.Coin)
	if r.Preview.Account != nil {
		props := accountReviewProps(shell, facts, r)
		props.SecondFactor = c.Member.User.SecondFactor
		return c.RenderStatus(status, dashboard.AccountReview(props))
	}
	props := reviewProps(c.UserContext(), shell, facts, r)
	props.SecondFactor = c.Member.User.SecondFactor
	if props.OneAddress != nil {
		return c.RenderStatus(status, dashboard.AddressReview(props))
	}
	return c.RenderStatus(status, dashboard.WalletReview(props))
}

// refuseWallet shows the first step again. Of the entered key it only shows a text that is
// clearly a public key.
func (h *Handlers) refuseWallet(c *page.Ctx, info money.CoinInfo, refused error) error {
	typed := ui.Form{Values: map[string]string{"key": publicKey(c.FormText("key")), "script": c.FormText("script")}}
	if page.ExplainError(refused).Code == wallet.CodePrivate {
		typed.Values["key"] = ""
	}
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showWallet(c, status, info, typed)
	})
}
