package wallet

import (
	"time"

	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// sheetRows bounds how many addresses the page lists; the CSV has all of them.
const sheetRows = 500

// sweepFacts is what the addresses hold, as far as a page shows it, and all of it together.
type sweepFacts struct {
	Network     collect.Network
	Rows        []wallet.Sweep
	Count, Lack int // of all addresses; of those that need gas first
	Barred      int
	Native      money.Amount
	Token       money.Amount
	Missing     money.Amount
	At          time.Time
}

// addAddress takes one address more.
func (f *sweepFacts) addAddress(s wallet.Sweep) error {
	f.Count++
	f.Native, f.Token = f.Native.Add(s.Native), f.Token.Add(s.Token)
	switch {
	case s.Barred: // gas would not help it
		f.Barred++
	case s.Missing.Sign() > 0:
		f.Lack++
		f.Missing = f.Missing.Add(s.Missing)
	}
	if len(f.Rows) < sheetRows {
		f.Rows = append(f.Rows, s)
	}
	return nil
}

// showSweepSheet shows what the addresses of ether and USDT hold now on a network, as a page to print
// and to work off with one's own wallet.
func (h *Handlers) showSweepSheet(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	if info.Chain != money.Ethereum {
		return c.Redirect(walletPath(info)) // wallets of other coins collect by themselves
	}
	n, err := h.Collecting.FindNetwork(c.Scope, money.Chain(page.CleanText(c.Query("network"))))
	if err != nil {
		return err
	}
	found := sweepFacts{Network: n, At: h.Clock()}
	if err := h.Wallets.SweepSheet(c.UserContext(), c.Scope, n.Code, found.addAddress); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "sweep.title_page"), "methods")
	shell.NextPath = walletPath(info)
	props := sheetProps(c.UserContext(), shell, walletCode(info), found, c.Member.Business)
	props.Networks = listNetworks(h.Collecting.ListNetworks(c.Scope), n.Code)
	props.Collect = c.Scope.Allows(scope.SignSends)
	return c.Render(dashboard.Sweep(props))
}
