package views_test

import (
	"time"

	"github.com/a-h/templ"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// tillPages are the keypad, a payment at the counter in each face, and the pages around them.
func tillPages() map[string]templ.Component {
	page := layout.TillPage{Title: "Till", BusinessName: "Sunbird Coffee", Domain: "test", CSRF: "token", Once: "once_1", Locked: true,
		Live: "/dashboard/till/live"}
	free := page
	free.Locked, free.Domain, free.Live = false, "live", ""
	props := dashboard.TillProps{TillPage: page, Form: ui.Form{Values: map[string]string{"currency": "NGN"}},
		Currencies: []ui.Option{{Value: "NGN", Label: "NGN"}, {Value: "GHC", Label: "GHC"}, {Value: "KES", Label: "KES"}, {Value: "USD", Label: "USD"}},
		Day:        dashboard.TillDay{Sums: []dashboard.TillSum{{Money: "₦128,284,500.00", Count: 1}, {Money: "$418.00", Count: 12}}}}
	for _, symbol := range []string{"BTC", "ETH", "USDT", "XRP", "DOGE"} {
		coin := dashboard.TillCoin{Method: "crypto_" + symbol, Symbol: symbol, Network: coins[symbol][1]}
		for _, n := range networkOptions(money.Coin(symbol)) {
			coin.Networks = append(coin.Networks, dashboard.TillNetwork{Code: n.Code, Name: n.Label, Fee: n.Fee, Chosen: n.Chosen})
		}
		props.Coins = append(props.Coins, coin)
	}
	for i, row := range rows()[:6] {
		props.Day.Last = append(props.Day.Last, dashboard.TillRow{Reference: row.Reference, Money: row.Fiat, Coin: row.CoinSymbol, State: row.State,
			At: now.Add(-time.Duration(i) * 7 * time.Minute)})
	}
	refused, none := props, dashboard.TillProps{TillPage: free}
	refused.Form = ui.Form{Values: map[string]string{"amount": "0", "currency": "USD", "method": "crypto_XRP"},
		Errors: map[string][]string{"amount": {"Enter a whole number from 1 to 1,000,000."}, "method": {"The payment method is not enabled."}}}
	choosing := props
	choosing.Form = ui.Form{Values: map[string]string{"currency": "USD", "method": "crypto_USDT"}}
	pages := map[string]templ.Component{"till": dashboard.Till(props), "till-network": dashboard.Till(choosing),
		"till-refused": dashboard.Till(refused), "till-no-coin": dashboard.Till(none),
		"till-leave": dashboard.TillLeave(dashboard.TillLeaveProps{TillPage: page}),
		"till-leave-refused": dashboard.TillLeave(dashboard.TillLeaveProps{TillPage: page,
			Form: ui.Form{Errors: map[string][]string{"pin": {"This isn't the PIN."}}}}),
	}
	for name, has := range map[string]bool{"till-settings": false, "till-settings-pin": true} {
		pages[name] = dashboard.TillSettings(dashboard.TillSettingsProps{Page: shell("Till", "till"), HasPIN: has, Manage: true,
			Form: ui.Form{Values: map[string]string{"domain": "test"}}})
	}
	pages["till-settings-admin"] = dashboard.TillSettings(dashboard.TillSettingsProps{Page: shell("Till", "till")})
	for face, said := range map[string][2]string{"waiting": {"Waiting for the payment", "Let the customer scan the code."},
		"seen": {"Payment seen", "It is not confirmed yet. Wait for “Paid”."}, "paid": {"Paid", "The payment is confirmed."},
		"wrong": {"Too little was paid", "0.00010000 BTC arrived and 0.00021437 BTC was due. An owner or an admin accepts or refunds it in the dashboard."},
		"over":  {"The time to pay is over", "Start a new payment. Money that still arrives is shown in the dashboard."}} {
		for symbol, name := range map[string]string{"BTC": "till-" + face, "XRP": "till-" + face + "-tag"} {
			c := coins[symbol]
			sale := dashboard.TillSaleProps{TillPage: page, Face: face, Title: said[0], Text: said[1], Money: "₦25,000.00", Coin: c[2] + " " + symbol,
				Network: c[1], Address: c[3], First: qr(c[4]), FirstText: "Scan with a wallet: it fills in the amount.", Second: qr(c[3]),
				SecondText: "Code with the address only", Deadline: now.Add(5 * time.Minute), Window: payment.Window, Now: now, Seen: 1, Needed: 3}
			sale.PageURL, sale.Sandbox = "http://127.0.0.1:8080/pay/tok", symbol != "XRP"
			if symbol == "XRP" {
				sale.Tag = "4021881377"
			}
			pages[name] = dashboard.TillSale(sale)
		}
	}
	return pages
}
