// Package wallet shows the payment methods and the wallets behind them, changes wallets, and
// lists what the addresses of a wallet hold.
package wallet

import (
	"context"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/golive"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/models"
)

// Accounts is what these pages need of core/account.
type Accounts interface {
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
	SetMethod(ctx context.Context, sc scope.Scope, method money.Method, enabled bool) error
	SetNetwork(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain, enabled bool) error
	PreselectNetwork(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain) error
}

// Quotes is what these pages need of core/quote.
type Quotes interface {
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
}

// Receiving is what these pages need of core/receiving.
type Receiving interface {
	ChangeWallet(ctx context.Context, sc scope.Scope, c receiving.Change) (used models.Wallet, changed bool, err error)
	ListHistory(ctx context.Context, sc scope.Scope, c money.Chain) ([]models.Wallet, error)
}

// Wallets is what these pages need of core/wallet.
type Wallets interface {
	Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (wallet.Preview, error)
	Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64, ok bool,
		err error)
	Active(ctx context.Context, sc scope.Scope, c money.Chain) (wallet.State, bool, error)
	SweepSheet(ctx context.Context, sc scope.Scope, code money.Chain, each func(wallet.Sweep) error) error
	Barred(ctx context.Context, sc scope.Scope) (count int64, first string, err error)
}

// Rehearsals is what these pages need of core/golive, for the wallets of the sandbox.
type Rehearsals interface {
	Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (wallet.Preview, error)
	Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64, ok bool,
		err error)
	RehearseWallet(ctx context.Context, sc scope.Scope, c golive.Change) error
}

// Collecting is what these pages need of core/collect.
type Collecting interface {
	ListNetworks(sc scope.Scope) []collect.Network
	FindNetwork(sc scope.Scope, code money.Chain) (collect.Network, error)
	Plan(ctx context.Context, sc scope.Scope, r collect.Request) (collect.Plan, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts  Accounts
	Clock     clock.Clock
	Networks  payment.Networks // which network serves a coin, and its health
	Noted     networks.Noted   // what to know about a network that can be used
	Quotes    Quotes
	Receiving Receiving
	Wallets   Wallets
	KeyProofs KeyProofs
	// Collecting plans how the money at many addresses is collected.
	Collecting Collecting
	// Rehearsals take the place of Receiving and Wallets for the coins that the sandbox serves.
	Rehearsals Rehearsals
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/methods", scope.SeeMethods, h.listMethods)
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
