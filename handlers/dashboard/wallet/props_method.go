package wallet

import (
	"context"
	"strconv"

	"cointill/core/account"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// methodsProps is the list of coins in a domain; facts has one entry for each,
// and unpriced the reasons of those that have no price.
func methodsProps(ctx context.Context, shell layout.Page, methods []account.Method, facts []walletFacts,
	unpriced map[money.Coin]string) dashboard.MethodsProps {
	props := dashboard.MethodsProps{Page: shell}
	for i, m := range methods {
		f := facts[i]
		row := dashboard.MethodRow{
			Code: string(m.Coin.Method), Coin: string(m.Coin.Coin), Name: m.Coin.Name, Network: m.Coin.Network,
			Enabled: m.Enabled, Available: m.Problem.IsZero(), Sentence: words.Translate(ctx, m.Problem),
			NoPrice: unpriced[m.Coin.Coin],
		}
		for _, n := range m.Networks {
			if len(m.Networks) == 1 && n.Code == m.Coin.Chain {
				continue // it is on by itself
			}
			row.Networks = append(row.Networks, methodNetwork(ctx, m.Coin.Coin, n))
		}
		if row.Available {
			row.Sentence = describeReady(ctx, m.Enabled, f)
		}
		if f.isReal() {
			row.Trouble, row.Notes = words.Translate(ctx, f.Trouble), f.Notes
		}
		if f.isReal() || f.isEditable() {
			row.WalletText = walletText(ctx, f)
		}
		if f.Found {
			card := walletCard(ctx, f)
			row.Wallet = &card
		}
		props.Methods = append(props.Methods, row)
	}
	return props
}

// methodNetwork is a network of a coin with its switch.
func methodNetwork(ctx context.Context, coin money.Coin, n account.MethodNetwork) dashboard.MethodNetworkRow {
	row := dashboard.MethodNetworkRow{Code: string(n.Code), Label: place.NameNetwork(coin, n.Network),
		Trouble: words.Translate(ctx, n.Problem), Enabled: n.Enabled, Preselected: n.Preselected}
	if facts, known := money.FindNetworkFacts(n.Code); known {
		row.Needs = words.T(ctx, "methods.network_needs", "Native", string(facts.Native), "Blocks",
			strconv.Itoa(facts.Finality.Depth), "Time", display.FormatAge(ctx, facts.UsualTime(false)))
		if fee := facts.UsualFee(coin); fee != "" {
			row.Fee = words.T(ctx, "methods.network_fee", "Coin", string(coin), "Fee", words.KeepTogether(fee))
		}
	}
	if n.Code == money.Tron {
		row.Wallet = words.T(ctx, "methods.tron_wallet")
	}
	return row
}

// walletText is what leads to the page of a coin's wallet.
func walletText(ctx context.Context, f walletFacts) string {
	switch {
	case f.isSandbox():
		return words.T(ctx, "methods.rehearse_wallet", "Wallet", heldOn(ctx, f.Coin))
	case f.isEditable() && !f.Found:
		return words.T(ctx, "methods.set_up_wallet", "Wallet", heldOn(ctx, f.Coin))
	case f.isEditable():
		return words.T(ctx, "methods.change_wallet", "Wallet", heldOn(ctx, f.Coin))
	}
	return words.T(ctx, "methods.about_wallet", "Wallet", heldOn(ctx, f.Coin))
}

func describeReady(ctx context.Context, enabled bool, f walletFacts) string {
	where := words.T(ctx, "methods.straight_to_wallet", "Wallet", heldOn(ctx, f.Coin))
	if f.isSandbox() {
		where = words.T(ctx, "methods.in_sandbox")
	}
	if enabled {
		return words.T(ctx, "methods.can_be_chosen", "Where", where)
	}
	return words.T(ctx, "methods.ready", "Where", where)
}
