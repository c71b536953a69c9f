package wallet

import (
	"testing"

	"cointill/core/account"
	"cointill/core/money"
	"cointill/views/layout"
)

func TestMethodsNameUnpricedCoins(t *testing.T) {
	methods := []account.Method{{Coin: money.BTC.Info(), Enabled: true}, {Coin: money.XRP.Info(), Enabled: true}}
	unpriced := map[money.Coin]string{money.BTC: "No rate for BTC/USD."}
	rows := methodsProps(t.Context(), layout.Page{}, methods, make([]walletFacts, 2), unpriced).Methods
	if rows[0].NoPrice != "No rate for BTC/USD." || rows[1].NoPrice != "" {
		t.Errorf("methods of which Bitcoin has no price: got %+v", rows)
	}
}
