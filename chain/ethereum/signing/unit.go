package signing

import (
	"cointill/chain"
	"cointill/core/money"
)

// gwei is the unit of prices of gas.
var gwei = chain.Unit{Name: "Gwei", Decimals: 9}

// SetUnits sets what the values of differences count. native is the coin of the network, and tokenDecimals are those
// of USDT on it.
func SetUnits(list []chain.Difference, p Payment, native money.Coin, tokenDecimals int) {
	coin := chain.Unit{Name: string(native), Decimals: native.Decimals()}
	paid := coin
	if p.Token != "" {
		paid = chain.Unit{Name: string(money.USDT), Decimals: tokenDecimals}
	}
	for i, d := range list {
		switch d.Field {
		case FieldAmount:
			list[i].Unit = paid
		case FieldValue, FieldFee:
			list[i].Unit = coin
		case FieldMaxFeePerGas, FieldMaxPriorityFeePerGas:
			list[i].Unit = gwei
		}
	}
}

// FormatGasPrice writes a price of gas in wei as wallets show it.
func FormatGasPrice(price money.Amount) string {
	return price.Format(gwei.Decimals, 0) + " " + gwei.Name
}
