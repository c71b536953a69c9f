package wallet

import (
	"context"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/wallet/oneaddress"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// capacityAt is the price in USD at which pages say how many payments can be open at one address.
const capacityAt = 20

// listCapacity says how many payments of 20 USD can be open at one address at once, in each coin that has a price.
func (h *Handlers) listCapacity(ctx context.Context, domain scope.Domain, info money.CoinInfo) (list []string,
	err error) {
	coins := []money.Coin{money.USDT, money.ETH}
	if info.Chain == money.Tron {
		coins = coins[:1]
	}
	for _, coin := range coins {
		leg, err := h.Quotes.Leg(domain, quote.Pair{Base: string(coin), Quote: string(money.USD)})
		if fault.KindOf(err) == fault.Unavailable {
			continue
		}
		if err != nil {
			return nil, err
		}
		amounts := oneaddress.ListAmounts(coin, coin.FromFiat(decimal.NewFromInt(capacityAt), leg.Value))
		list = append(list, words.T(ctx, "wallet.one_capacity_of", "Count", strconv.Itoa(len(amounts)), "Coin",
			coin.Info().Name))
	}
	return list, nil
}

// oneAddress is an address with the names of the networks that it is entered for. network is its home network,
// networks are codes with spaces between them.
func oneAddress(address, network, networks string) *dashboard.OneAddress {
	one := &dashboard.OneAddress{Address: address}
	for _, code := range strings.Fields(networks) {
		facts, known := money.FindNetworkFacts(money.Chain(code))
		switch {
		case code == string(money.Ethereum):
			one.Networks = append(one.Networks, place.NameNetwork(money.ETH, network))
		case code == string(money.Tron):
			one.Networks, one.Alone = append(one.Networks, place.NameNetwork(money.USDT, network)), true
		case known:
			one.Networks = append(one.Networks, facts.Label)
		}
	}
	return one
}
