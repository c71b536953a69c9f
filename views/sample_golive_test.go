package views_test

import (
	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// goingLivePages are the checklist for going live, rehearsed and in earnest.
func goingLivePages(live layout.Page) map[string]templ.Component {
	const open = "Needs a node first"
	rehearsal := dashboard.GoingLiveProps{Page: shell("Going live", "golive"), Rehearsal: true, MayTest: true, ExactLabel: "Exact amount",
		MayPay: true, SeesPayment: true,
		Nodes: []dashboard.GoingLiveNode{
			{Coins: "Bitcoin", Network: "sandbox-bitcoin", OK: true, Text: "Simulated by the sandbox",
				Run:     "Bitcoin Core, pruned to 550 MB or more, or an Esplora service.",
				Setting: "COINTILL_LIVE_BITCOIN_URL", Result: "Test: the simulated network answers.",
				ResultOK: true},
			{Coins: "Ether, Tether USD", Network: "sandbox-ethereum", OK: true, Text: "Simulated by the sandbox",
				Run: "geth, Nethermind, Besu, Erigon or Reth with a consensus client, or a provider of JSON-RPC.", Setting: "COINTILL_LIVE_ETHEREUM_URL", Result: "Test: the simulated network answers.", ResultOK: true}},
		Wallets: []dashboard.GoingLiveWallet{{Coins: "Bitcoin", Text: "Rehearsed", Done: true,
			Href: "/dashboard/methods/crypto_bitcoin/wallet", Action: "Rehearse again"},
			{Coins: "Ether, Tether USD", Text: "Not rehearsed yet",
				Href: "/dashboard/methods/crypto_ethereum/wallet", Action: "Rehearse"}},
		Payment: &dashboard.GoingLivePayment{Reference: "PAY_8KSKWNTAEQHF7PWEK08BN6P77X", State: "initiated",
			Fiat: "KSh 1.00", Coin: "0.003322 XRP", PayURL: "https://till.example/pay/x",
			Text: "Waiting for the payment. Its page shows the address and the amount."},
		Coins: []ui.Option{{Value: "crypto_bitcoin", Label: "Bitcoin (Bitcoin)"}, {Value: "crypto_ripple",
			Label: "XRP (XRP Ledger)"}},
		Currencies: []ui.Option{{Value: "KES", Label: "KES"}, {Value: "NGN", Label: "NGN"}},
		Webhook:    "No endpoint answered its last delivery with success. Send a test event, and look at the answer.",
		Factor:     "All 2 owners sign in with a second factor or a passkey.", NodeDone: true, WalletDone: true,
		FactorDone: true}
	earnest := rehearsal
	earnest.Page, earnest.Rehearsal, earnest.Payment, earnest.Coins = live, false, nil, nil
	earnest.Nodes = []dashboard.GoingLiveNode{{Coins: "Bitcoin", Text: "No node is configured",
		Run: rehearsal.Nodes[0].Run, Setting: rehearsal.Nodes[0].Setting, Result: "Test: there is no node to ask."},
		{Coins: "XRP", Network: "xrp-mainnet", OK: true, Text: "Followed, payments can be taken",
			Run: "A server of rippled or Clio, yours or a public one.", Setting: "COINTILL_LIVE_XRP_URL",
			Result: "Test: 1 of 2 nodes answered, at block 99,120,871.", ResultOK: true}}
	earnest.Wallets = []dashboard.GoingLiveWallet{{Coins: "Bitcoin", Text: open}, {Coins: "XRP",
		Text: "Not set up yet", Href: "/dashboard/methods/crypto_ripple/wallet", Action: "Set up"}}
	earnest.WalletDone, earnest.FactorDone, earnest.Factor = false, false,
		"Owners can change where money goes. These owners sign in with a password alone: Ama Mensah."
	done := rehearsal
	done.Payment = &dashboard.GoingLivePayment{Reference: "PAY_8KSKWNTAEQHF7PWEK08BN6P77X", State: "successful",
		Fiat: "KSh 1.00", Coin: "0.003322 XRP",
		Text: "The payment is confirmed. The money is where your wallet says."}
	done.PaymentDone, done.WebhookDone, done.Webhook = true, true, "One endpoint answered its last delivery with success."
	return map[string]templ.Component{"going-live": dashboard.GoingLive(rehearsal),
		"going-live-live": dashboard.GoingLive(earnest), "going-live-done": dashboard.GoingLive(done)}
}
