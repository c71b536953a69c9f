package money_test

import (
	"testing"

	"cointill/core/money"
)

// TestCarries (contract, Initiation rules): a network carries its smallest output and none below.
func TestCarries(t *testing.T) {
	t.Parallel()
	for coin, least := range map[money.Coin]int64{money.BTC: 546, money.DOGE: 1_000_000, money.ETH: 0, money.USDT: 0, money.XRP: 0} {
		info := coin.Info()
		if !info.Carries(money.Units(least)) {
			t.Errorf("%s doesn't carry %d units, want it to", coin, least)
		}
		if least > 0 && info.Carries(money.Units(least-1)) {
			t.Errorf("%s carries %d units, want at least %d", coin, least-1, least)
		}
	}
}
