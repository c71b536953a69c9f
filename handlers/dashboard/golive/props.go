package golive

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/golive"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// trialCurrencies are the currencies of a test payment. A shilling, about a US cent, is the first.
var trialCurrencies = []money.Currency{money.KES, money.NGN, money.GHC, money.USD}

// checklistProps is the checklist of a domain, without its shell.
func checklistProps(ctx context.Context, sc scope.Scope, all payment.Networks,
	f facts) dashboard.GoingLiveProps {
	p := dashboard.GoingLiveProps{Rehearsal: sc.Domain == scope.Test, MayTest: sc.Allows(scope.ToggleMethods),
		MayPay: sc.Allows(scope.StartPayments), SeesPayment: sc.Allows(scope.SeePayments),
		Webhook: describeWebhooks(ctx, sc, f), Factor: describeFactors(ctx, f.Progress),
		ExactLabel:  display.ScenarioLabel(ctx, sandbox.Exact),
		WebhookDone: f.Answered > 0, FactorDone: len(f.Progress.Unprotected) == 0,
		PaymentDone: f.Progress.Payment.Status == string(payment.Successful)}
	for _, network := range f.Progress.Networks {
		node := nodeProps(ctx, sc, all, network)
		for _, test := range f.Tests {
			if test.Chain == network.Code {
				node.Result, node.ResultOK = describeTest(ctx, test)
			}
		}
		p.Nodes, p.NodeDone = append(p.Nodes, node), p.NodeDone || node.OK
		if !sharesWallet(network) {
			wallet := walletProps(ctx, sc, all, network, f)
			p.Wallets, p.WalletDone = append(p.Wallets, wallet), p.WalletDone || wallet.Done
		}
	}
	if f.Progress.Payment.ID != 0 {
		p.Payment = trialProps(ctx, f)
	}
	for _, coin := range f.Payable {
		label := coin.Name
		if coin.Network != coin.Name {
			label += " (" + coin.Network + ")"
		}
		p.Coins = append(p.Coins, ui.Option{Value: string(coin.Method), Label: label})
	}
	for _, currency := range trialCurrencies {
		p.Currencies = append(p.Currencies, ui.Option{Value: string(currency), Label: string(currency)})
	}
	return p
}

// sharesWallet reports whether a network is received on with the wallet of another one, Ethereum.
func sharesWallet(n golive.Network) bool { return n.Further && n.Code.IsEVM() }

// nameCoins names the coins of a network, and the network where it isn't their first.
func nameCoins(ctx context.Context, n golive.Network) string {
	var names []string
	for _, coin := range n.Coins {
		names = append(names, coin.Name)
	}
	text := strings.Join(names, ", ")
	if n.Further {
		return words.T(ctx, "golive.coins_on", "Coins", text, "Network", n.Code.Label())
	}
	return text
}

// runWords say what an operator runs or buys for a network. Networks of Ethereum's kind share one sentence.
var runWords = map[money.Chain]string{money.Bitcoin: "golive.run_bitcoin", money.Dogecoin: "golive.run_dogecoin",
	money.Ethereum: "golive.run_ethereum", money.XRPL: "golive.run_xrp", money.Tron: "golive.run_tron"}

func nodeProps(ctx context.Context, sc scope.Scope, all payment.Networks,
	n golive.Network) dashboard.GoingLiveNode {
	network, problem := all.Network(sc.Domain, n.Code)
	node := dashboard.GoingLiveNode{Coins: nameCoins(ctx, n), Network: string(network), OK: problem.IsZero(),
		Run:     words.T(ctx, cmp.Or(runWords[n.Code], "golive.run_evm"), "Network", n.Code.Label()),
		Setting: "COINTILL_LIVE_" + strings.ToUpper(string(n.Code)) + "_URL"}
	switch {
	case network.IsSandbox():
		node.Text = words.T(ctx, "golive.node_simulated")
	case network == "":
		node.Text = words.T(ctx, "golive.node_none")
	case !problem.IsZero():
		node.Text = words.Translate(ctx, problem)
	default:
		node.Text = words.T(ctx, "golive.node_ok")
	}
	return node
}

// describeTest says what a test of the nodes found, and whether that is enough to be paid.
func describeTest(ctx context.Context, test golive.NodeTest) (text string, ok bool) {
	block := words.FormatThousands(ctx, test.Height)
	switch {
	case test.Simulated:
		return words.T(ctx, "golive.test_simulated"), true
	case test.Network == "":
		return words.T(ctx, "golive.test_none"), false
	case test.Answered == 0:
		return words.T(ctx, "golive.test_silent"), false
	case test.Answered < test.Nodes:
		return words.T(ctx, "golive.test_some", "Answered", strconv.Itoa(test.Answered), "Nodes",
			strconv.Itoa(test.Nodes), "Block", block), test.Problem == ""
	}
	return words.N(ctx, "golive.test_all", test.Nodes, "Block", block), test.Problem == ""
}

// findHome reports whether a network serves the wallet of a chain, and whether the sandbox does. Networks of Ethereum's
// kind share their addresses, so any of them serves Ethereum's wallet.
func findHome(all payment.Networks, domain scope.Domain, chain money.Chain) (served, simulated bool) {
	for _, code := range money.ListNetworks() {
		if code != chain && !(code.IsEVM() && chain.IsEVM()) {
			continue
		}
		if network, _ := all.Network(domain, code); network != "" {
			return true, network.IsSandbox()
		}
	}
	return false, false
}

func walletProps(ctx context.Context, sc scope.Scope, all payment.Networks, n golive.Network,
	f facts) dashboard.GoingLiveWallet {
	served, simulated := findHome(all, sc.Domain, n.Code)
	w := dashboard.GoingLiveWallet{Coins: nameCoins(ctx, n)}
	if served && sc.Allows(scope.SetReceiving) {
		w.Href, w.Action = walletPath(all, sc.Domain, n), words.T(ctx, "golive.set_up")
	}
	found := f.Wallets[n.Code]
	switch {
	case !served:
		w.Text = words.T(ctx, "golive.wallet_waits")
	case simulated && f.Progress.Rehearsed[n.Code]:
		w.Done, w.Text, w.Action = true, words.T(ctx, "golive.wallet_rehearsed"), words.T(ctx, "golive.again")
	case simulated:
		w.Text, w.Action = words.T(ctx, "golive.wallet_unrehearsed"), words.T(ctx, "golive.rehearse")
	case found.ID != 0:
		w.Done, w.Text, w.Action = true, words.T(ctx, "golive.wallet_ok"), words.T(ctx, "golive.look")
	default:
		w.Text = words.T(ctx, "golive.wallet_none")
	}
	if w.Href == "" {
		w.Action = ""
	}
	if n.Code == money.Ethereum && found.ID != 0 {
		w.Shared, w.Unentered = describeShared(ctx, f.Progress.Networks, found)
	}
	return w
}

// describeShared says on which further networks Ethereum's wallet receives, and for which networks that are on its one
// address was not entered; "" for none.
func describeShared(ctx context.Context, listed []golive.Network, found models.Wallet) (shared, unentered string) {
	var receiving, missing []string
	for _, n := range listed {
		switch {
		case !n.Code.IsEVM():
		case !networks.IsEntered(found, n.Code):
			if n.On {
				missing = append(missing, n.Code.Label())
			}
		case n.Further:
			receiving = append(receiving, n.Code.Label())
		}
	}
	if len(receiving) > 0 {
		shared = words.T(ctx, "golive.wallet_shared", "Networks", strings.Join(receiving, ", "))
	}
	if len(missing) > 0 {
		unentered = words.T(ctx, "golive.wallet_unentered", "Networks", strings.Join(missing, ", "))
	}
	return shared, unentered
}

// walletPath is the page of the wallet that receives on a network: of the first of its coins that a network serves.
func walletPath(all payment.Networks, domain scope.Domain, n golive.Network) string {
	code := string(n.Code)
	if n.Code != money.Tron {
		at := slices.IndexFunc(n.Coins, func(coin money.CoinInfo) bool { return len(all.Served(domain, coin)) > 0 })
		code = string(n.Coins[max(at, 0)].Method)
	}
	return "/dashboard/methods/" + code + "/wallet"
}

func trialProps(ctx context.Context, f facts) *dashboard.GoingLivePayment {
	row := f.Progress.Payment
	coin, state := money.Coin(row.Coin), payment.State(row.Status)
	p := &dashboard.GoingLivePayment{Reference: row.Reference, State: row.Status, PayURL: f.PayURL,
		Fiat: money.Currency(row.Currency).FormatForPeople(decimal.NewFromInt(row.Amount)),
		Coin: coin.Format(row.Due) + " " + row.Coin, Text: words.T(ctx, "golive.trial_ended")}
	switch {
	case state == payment.Successful:
		p.Text = words.T(ctx, "golive.trial_paid")
	case state == payment.Processing:
		p.Text = words.T(ctx, "golive.trial_seen")
	case !state.Final():
		p.Text = words.T(ctx, "golive.trial_waits")
	}
	return p
}

func describeWebhooks(ctx context.Context, sc scope.Scope, f facts) string {
	switch {
	case !sc.Allows(scope.SeeWebhooks):
		return words.T(ctx, "golive.webhook_hidden")
	case f.Endpoints == 0:
		return words.T(ctx, "golive.webhook_none")
	case f.Answered == 0:
		return words.T(ctx, "golive.webhook_silent")
	}
	return words.N(ctx, "golive.webhook_answered", f.Answered)
}

// describeFactors says which owners sign in with a password alone.
func describeFactors(ctx context.Context, p golive.Progress) string {
	if len(p.Unprotected) == 0 {
		return words.N(ctx, "golive.factor_done", p.Owners)
	}
	names := ""
	for _, owner := range p.Unprotected {
		if names != "" {
			names += ", "
		}
		names += owner.Name
	}
	return words.T(ctx, "golive.factor_missing", "Names", names)
}
