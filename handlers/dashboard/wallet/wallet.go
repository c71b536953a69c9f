package wallet

import (
	"net/http"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// walletFacts describes how a coin is received.
type walletFacts struct {
	Coin    money.CoinInfo
	Scope   scope.Scope
	Network string        // such as "bitcoin-mainnet"; "" where none serves the coin
	Trouble fault.Message // why the network can't be used now
	Notes   []string      // what to know although it can
	State   wallet.State
	Found   bool // there is a wallet
	History []models.Wallet
	Zone    *time.Location // of the business
	// Capacity is how many payments can be open at one address, as sentences; only of coins that share addresses.
	Capacity []string
}

// showWalletPage shows what a coin is received with.
func (h *Handlers) showWalletPage(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	return h.showWallet(c, http.StatusOK, info, ui.Form{})
}

// returnToWallet is where a review or a proof leads whose form was not sent along.
func (h *Handlers) returnToWallet(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	return c.Redirect(walletPath(info))
}

func (h *Handlers) showWallet(c *page.Ctx, status int, info money.CoinInfo, typed ui.Form) error {
	facts, err := h.loadWallet(c, info)
	if err != nil {
		return err
	}
	if facts.History, err = h.Receiving.ListHistory(c.UserContext(), c.Scope, info.Chain); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "wallet.page", "Coin", info.Name), "methods")
	shell.NextPath = walletPath(info)
	props := walletProps(c.UserContext(), shell, typed, facts)
	if props.Proof, err = h.loadProof(c, facts); err != nil {
		return err
	}
	return c.RenderStatus(status, dashboard.Wallet(props))
}

// loadWallet reads how a coin is received, without former wallets.
func (h *Handlers) loadWallet(c *page.Ctx, info money.CoinInfo) (walletFacts, error) {
	network, trouble := h.Networks.Network(c.Scope.Domain, info.Chain)
	facts := walletFacts{Coin: info, Scope: c.Scope, Network: string(network), Trouble: trouble,
		Zone: page.LoadZone(c.Member.Business)}
	for _, served := range h.Networks.Served(c.Scope.Domain, info) {
		if facts.Network == "" && served.Code != money.Tron { // others have its addresses, and Tron has a wallet of its own
			facts.Network, facts.Trouble = h.Networks.Home(served.Network), h.Networks.Problem(served.Network)
		}
	}
	if !facts.isReal() {
		return facts, nil
	}
	var err error
	if info.Chain == money.Ethereum || info.Chain == money.Tron {
		if facts.Capacity, err = h.listCapacity(c.UserContext(), c.Scope.Domain, info); err != nil {
			return facts, err
		}
	}
	if facts.Notes, err = h.listNotes(c, info); err != nil {
		return facts, err
	}
	facts.State, facts.Found, err = h.Wallets.Active(c.UserContext(), c.Scope, info.Chain)
	return facts, err
}

// listNotes is what to know of a coin that can be paid with.
func (h *Handlers) listNotes(c *page.Ctx, info money.CoinInfo) (notes []string, err error) {
	said := h.Noted.Notes(c.Scope.Domain, info.Chain)
	if said.Network != "" {
		notes = append(notes, said.Network)
	}
	if info.Coin != money.USDT || info.Chain == money.Tron {
		return notes, nil
	}
	if said.Token != "" {
		notes = append(notes, said.Token)
	}
	count, first, err := h.Wallets.Barred(c.UserContext(), c.Scope)
	if err == nil && count > 0 {
		notes = append(notes, barredText(c.UserContext(), count, first))
	}
	return notes, err
}

// coinOf is the coin whose payment method the address names. Tron has a wallet of its own, by the network's code.
func coinOf(c *page.Ctx) (money.CoinInfo, error) {
	if c.Param("code") == string(money.Tron) {
		info := money.USDT.Info().On(money.Tron)
		info.Name = words.T(c.UserContext(), "wallet.tron_name", "Coin", info.Name)
		return info, nil
	}
	info, known := money.Method(c.Param("code")).Info()
	if !known {
		return info, fault.Missing("payment method")
	}
	return info, nil
}

func walletPath(info money.CoinInfo) string {
	return "/dashboard/methods/" + walletCode(info) + "/wallet"
}

// walletCode names a coin's wallet in addresses.
func walletCode(info money.CoinInfo) string {
	if info.Chain == money.Tron {
		return string(money.Tron)
	}
	return string(info.Method)
}
