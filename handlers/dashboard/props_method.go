package dashboard

import (
	"cointill/core/account"
	"cointill/core/money"
	"cointill/views/dashboard"
	"cointill/views/layout"
)

// methodsProps is the list of coins in a domain; facts has one entry for each,
// and unpriced the reasons of those that have no price.
func methodsProps(page layout.Page, methods []account.Method, facts []walletFacts, unpriced map[money.Coin]string) dashboard.MethodsProps {
	props := dashboard.MethodsProps{Page: page}
	for i, m := range methods {
		f := facts[i]
		row := dashboard.MethodRow{
			Code: string(m.Coin.Method), Coin: string(m.Coin.Coin), Name: m.Coin.Name, Network: m.Coin.Network,
			Enabled: m.Enabled, Available: m.Problem == "", Sentence: m.Problem,
			NoPrice: unpriced[m.Coin.Coin],
		}
		if row.Available {
			row.Sentence = ready(m.Enabled, f)
		}
		if f.real() {
			row.Trouble = f.Trouble
			row.WalletText = walletText(f)
		}
		if f.Found {
			card := walletCard(f.State)
			row.Wallet = &card
		}
		props.Methods = append(props.Methods, row)
	}
	return props
}

// walletText is what leads to the page of a coin's wallet.
func walletText(f walletFacts) string {
	switch {
	case f.editable() && !f.Found:
		return "Set up your " + held(f.Coin)
	case f.editable():
		return "Change the " + held(f.Coin)
	}
	return "About the " + held(f.Coin)
}

func ready(enabled bool, f walletFacts) string {
	where := "and payments go straight to your own " + held(f.Coin)
	if f.sandboxed() {
		where = "on the sandbox's simulated network: nothing to set up"
	}
	if enabled {
		return "Customers can choose it, " + where + "."
	}
	return "Ready, " + where + "."
}
