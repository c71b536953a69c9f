package wallet

import (
	"context"
	"strings"

	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/receiving"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// sheetProps is what addresses hold, on paper.
func sheetProps(ctx context.Context, shell layout.Page, code string, found sweepFacts,
	b models.Business) dashboard.SweepProps {
	zone, native := page.LoadZone(b), found.Network.Native
	p := dashboard.SweepProps{
		Page: shell, Code: code, Business: b.Name, BusinessCode: b.Code,
		Network: labelNetwork(found.Network), NetworkCode: string(found.Network.Code),
		NativeCoin: string(native), Native: plainCoin(native, found.Native),
		Addresses: words.N(ctx, "sweep.addresses", found.Count), Printed: found.At.In(zone), Zone: zone.String(),
	}
	if found.Network.HasToken() {
		p.Token = plainCoin(money.USDT, found.Token)
	}
	if found.Lack > 0 {
		p.Lack = words.N(ctx, "sweep.lack_first", found.Lack, "Coin", nameCoin(native))
		p.Missing = plainCoin(native, found.Missing)
	}
	if found.Barred > 0 {
		p.Barred = words.N(ctx, "sweep.barred_some", found.Barred)
	}
	if more := found.Count - len(found.Rows); more > 0 {
		p.More = words.N(ctx, "sweep.more", more)
	}
	keys := map[string]bool{}
	for _, s := range found.Rows {
		keys[s.Key] = true
		row := dashboard.SweepRow{Address: s.Address, Path: s.Path, Wallet: receiving.ShortKey(s.Key), Barred: s.Barred}
		if s.Native.Sign() > 0 {
			row.Native = plainCoin(native, s.Native)
		}
		if s.Token.Sign() > 0 {
			row.Token = plainCoin(money.USDT, s.Token)
		}
		if s.Missing.Sign() > 0 {
			row.Missing = plainCoin(native, s.Missing)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Several = len(keys) > 1
	return p
}

// listNetworks lists networks to choose from.
func listNetworks(all []collect.Network, chosen money.Chain) (list []dashboard.SweepNetwork) {
	for _, n := range all {
		list = append(list, dashboard.SweepNetwork{Code: string(n.Code), Label: labelNetwork(n),
			Chosen: n.Code == chosen})
	}
	return list
}

// labelNetwork is what wallets call a network.
func labelNetwork(n collect.Network) string { return place.NameNetwork(n.Native, string(n.Name)) }

// nameCoin is what sentences call the coin of a network's fees.
func nameCoin(coin money.Coin) string {
	if coin == money.ETH {
		return "ether"
	}
	return string(coin)
}

// plainCoin is an exact amount with its symbol, without zeros that say nothing.
func plainCoin(coin money.Coin, amount money.Amount) string {
	text := coin.Format(amount)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + string(coin)
}
