package overview

import (
	"testing"

	"cointill/core/money"
)

func TestAttentionToUnpricedCoins(t *testing.T) {
	list := listAttention(t.Context(), overviewFacts{Unpriced: map[money.Coin]string{money.BTC: "No rate for BTC/USD."}})
	if len(list) != 1 || list[0].Title != "No price for Bitcoin" || list[0].Text != "No rate for BTC/USD." || list[0].Href != "/dashboard/rates" {
		t.Errorf("attention to a coin without a price: got %+v", list)
	}
}
