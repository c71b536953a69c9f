// Package wallet shows the payment methods and the wallets behind them, changes wallets, and
// lists what the addresses of a wallet hold.
package wallet

import (
	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/golive"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/wallet/keyproof"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts  *account.Service
	Clock     clock.Clock
	Networks  payment.Networks // which network serves a coin, and its health
	Noted     networks.Noted   // what to know about a network that can be used
	Quotes    *quote.Service
	Receiving *receiving.Service
	Wallets   *wallet.Service
	KeyProofs *keyproof.Service
	// Collecting plans how the money at many addresses is collected.
	Collecting *collect.Service
	// Rehearsals take the place of Receiving and Wallets for the coins that the sandbox serves.
	Rehearsals *golive.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/methods", scope.SeeMethods, page.ShowPage(h.showMethods))
	m.Post("/dashboard/methods/:code", scope.ToggleMethods, h.toggleMethod)
	m.Post("/dashboard/methods/:code/networks/:network", scope.ToggleMethods, h.toggleNetwork)
	m.Post("/dashboard/methods/:code/networks/:network/preselect", scope.ToggleMethods, h.preselectNetwork)
	m.Get("/dashboard/methods/:code/wallet", scope.SeeMethods, h.showWalletPage)
	m.Post("/dashboard/methods/:code/wallet", scope.SetReceiving, h.useWallet)
	m.Get("/dashboard/methods/:code/wallet/sweep", scope.SeePayments, h.showSweepSheet)
	m.Get("/dashboard/methods/:code/wallet/sweep.csv", scope.SeePayments, h.downloadSweep)
	m.Get("/dashboard/methods/:code/wallet/prove", scope.SeeMethods, h.returnToWallet)
	m.Post("/dashboard/methods/:code/wallet/prove", scope.SetReceiving, h.proveKey)
	m.Get("/dashboard/methods/:code/wallet/collect", scope.SignSends, h.showCollection)
	m.Post("/dashboard/methods/:code/wallet/collect", scope.SignSends, h.downloadCollection)
	m.Get("/dashboard/methods/:code/wallet/review", scope.SeeMethods, h.returnToWallet)
	m.Post("/dashboard/methods/:code/wallet/review", scope.SetReceiving, h.reviewWallet)
}
