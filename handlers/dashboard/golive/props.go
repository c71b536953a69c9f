package golive

import (
	"context"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"cointill/core/golive"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// trialCurrencies are the currencies of a test payment. A shilling, about a US cent, is the first.
var trialCurrencies = []money.Currency{money.KES, money.NGN, money.GHC, money.USD}

// checklistProps is the checklist of a domain, without its shell.
func checklistProps(ctx context.Context, sc scope.Scope, networks payment.Networks,
	f facts) dashboard.GoingLiveProps {
	p := dashboard.GoingLiveProps{Rehearsal: sc.Domain == scope.Test, MayTest: sc.Allows(scope.ToggleMethods),
		MayPay: sc.Allows(scope.StartPayments), SeesPayment: sc.Allows(scope.SeePayments),
		Webhook: describeWebhooks(ctx, sc, f), Factor: describeFactors(ctx, f.Progress),
		WebhookDone: f.Answered > 0, FactorDone: len(f.Progress.Unprotected) == 0,
		PaymentDone: f.Progress.Payment.Status == string(payment.Successful)}
	for _, chain := range money.Chains() {
		node := nodeProps(ctx, sc, networks, chain)
		for _, test := range f.Tests {
			if test.Chain == chain {
				node.Result, node.ResultOK = describeTest(ctx, test)
			}
		}
		wallet := walletProps(ctx, sc, networks, chain, f)
		p.Nodes, p.Wallets = append(p.Nodes, node), append(p.Wallets, wallet)
		p.NodeDone, p.WalletDone = p.NodeDone || node.OK, p.WalletDone || wallet.Done
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

// coinsOf names the coins of a chain.
func coinsOf(chain money.Chain) (names string) {
	for _, coin := range money.Coins() {
		if coin.Chain != chain {
			continue
		}
		if names != "" {
			names += ", "
		}
		names += coin.Name
	}
	return names
}

// runWords say what an operator runs or buys for a chain.
var runWords = map[money.Chain]string{money.Bitcoin: "golive.run_bitcoin", money.Dogecoin: "golive.run_dogecoin",
	money.Ethereum: "golive.run_ethereum", money.XRPL: "golive.run_xrp"}

// settingNames are the middles of the settings that name nodes.
var settingNames = map[money.Chain]string{money.Bitcoin: "BITCOIN", money.Dogecoin: "DOGECOIN",
	money.Ethereum: "ETHEREUM", money.XRPL: "XRP"}

func nodeProps(ctx context.Context, sc scope.Scope, networks payment.Networks,
	chain money.Chain) dashboard.GoingLiveNode {
	network, problem := networks.Network(sc.Domain, chain)
	node := dashboard.GoingLiveNode{Coins: coinsOf(chain), Network: string(network), OK: problem == "",
		Run: words.T(ctx, runWords[chain]), Setting: "COINTILL_LIVE_" + settingNames[chain] + "_URL"}
	switch {
	case network.IsSandbox():
		node.Text = words.T(ctx, "golive.node_simulated")
	case network == "":
		node.Text = words.T(ctx, "golive.node_none")
	case problem != "":
		node.Text = problem
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

func walletProps(ctx context.Context, sc scope.Scope, networks payment.Networks, chain money.Chain,
	f facts) dashboard.GoingLiveWallet {
	network, _ := networks.Network(sc.Domain, chain)
	w := dashboard.GoingLiveWallet{Coins: coinsOf(chain)}
	at := slices.IndexFunc(money.Coins(), func(coin money.CoinInfo) bool { return coin.Chain == chain })
	if at >= 0 && network != "" && sc.Allows(scope.SetReceiving) {
		w.Href = "/dashboard/methods/" + string(money.Coins()[at].Method) + "/wallet"
		w.Action = words.T(ctx, "golive.set_up")
	}
	switch {
	case network == "":
		w.Text = words.T(ctx, "golive.wallet_waits")
	case network.IsSandbox() && f.Progress.Rehearsed[chain]:
		w.Done, w.Text, w.Action = true, words.T(ctx, "golive.wallet_rehearsed"), words.T(ctx, "golive.again")
	case network.IsSandbox():
		w.Text, w.Action = words.T(ctx, "golive.wallet_unrehearsed"), words.T(ctx, "golive.rehearse")
	case f.Wallets[chain]:
		w.Done, w.Text, w.Action = true, words.T(ctx, "golive.wallet_ok"), words.T(ctx, "golive.look")
	default:
		w.Text = words.T(ctx, "golive.wallet_none")
	}
	if w.Href == "" {
		w.Action = ""
	}
	return w
}

func trialProps(ctx context.Context, f facts) *dashboard.GoingLivePayment {
	row := f.Progress.Payment
	coin, state := money.Coin(row.Coin), payment.State(row.Status)
	p := &dashboard.GoingLivePayment{Reference: row.Reference, State: row.Status, PayURL: f.PayURL,
		Fiat: money.Currency(row.Currency).FormatForPeople(decimal.NewFromInt(row.Amount)),
		Coin: coin.Format(row.Due) + " " + row.Coin, Created: row.CreatedAt, Text: words.T(ctx, "golive.trial_ended")}
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
