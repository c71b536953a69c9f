package wallet

import (
	"context"
	"strings"

	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// sheetProps is what addresses hold, on paper.
func sheetProps(ctx context.Context, shell layout.Page, f walletFacts, found sweepFacts,
	b models.Business) dashboard.SweepProps {
	zone := page.LoadZone(b)
	p := dashboard.SweepProps{
		Page: shell, Code: string(f.Coin.Method), Business: b.Name, BusinessCode: b.Code,
		Network: receiving.NetworkName(f.Network),
		Ether:   plainCoin(money.ETH, found.Ether), Token: plainCoin(money.USDT, found.Token),
		Addresses: words.N(ctx, "sweep.addresses", found.Count), Printed: found.At.In(zone), Zone: zone.String(),
	}
	if found.Lack > 0 {
		p.Lack, p.Missing = words.N(ctx, "sweep.lack_first", found.Lack), plainCoin(money.ETH, found.Missing)
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
		if s.Ether.Sign() > 0 {
			row.Ether = plainCoin(money.ETH, s.Ether)
		}
		if s.Token.Sign() > 0 {
			row.Token = plainCoin(money.USDT, s.Token)
		}
		if s.Missing.Sign() > 0 {
			row.Missing = plainCoin(money.ETH, s.Missing)
		}
		p.Rows = append(p.Rows, row)
	}
	p.Several = len(keys) > 1
	return p
}

// plainCoin is an exact amount with its symbol, without zeros that say nothing.
func plainCoin(coin money.Coin, amount money.Amount) string {
	text := coin.Format(amount)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + string(coin)
}
