package golive

import (
	"slices"

	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
)

// Network is a network that the checklist lists, with the coins that are paid there.
type Network struct {
	Code  money.Chain
	Coins []money.CoinInfo
	// Further says that it isn't the first network of its coins.
	Further bool
	// On says that it is switched on for one of its coins, whether or not the payment method is.
	On bool
}

// listNetworks lists the first networks of all coins, and then the further ones that are on. Tron has a wallet of its
// own, and is listed also when that exists or was rehearsed.
func listNetworks(db *models.Tx, sc scope.Scope, rehearsed map[money.Chain]bool) (list []Network, err error) {
	on, err := networks.SwitchedOn(db, sc)
	if err != nil {
		return nil, err
	}
	received := rehearsed[money.Tron]
	if !received {
		var wallets int64
		err := sc.Rows(db.Model(&models.Wallet{})).Where("active AND network LIKE ?", string(money.Tron)+"-%").
			Count(&wallets).Error
		if err != nil {
			return nil, err
		}
		received = wallets > 0
	}
	for _, code := range money.Chains() {
		list = append(list, Network{Code: code})
	}
	for _, code := range money.ListNetworks() {
		if !slices.Contains(money.Chains(), code) {
			list = append(list, Network{Code: code, Further: true})
		}
	}
	for i := range list {
		n := &list[i]
		for _, coin := range money.Coins() {
			isOn := slices.Contains(on[coin.Method], n.Code)
			n.On = n.On || isOn
			if isOn || coin.Chain == n.Code {
				n.Coins = append(n.Coins, coin)
			}
		}
		if n.Code == money.Tron && len(n.Coins) == 0 && received {
			n.Coins = []money.CoinInfo{money.USDT.Info()}
		}
	}
	return slices.DeleteFunc(list, func(n Network) bool { return len(n.Coins) == 0 }), nil
}
