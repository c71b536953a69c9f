package oneaddress_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cointill/core/money"
	"cointill/core/wallet/oneaddress"
)

// TestListAmounts has amounts whose list is known.
func TestListAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		coin        money.Coin
		due         int64
		count       int
		first, last string
	}{
		{money.USDT, 20_000_000, 990, "20.000100", "20.099900"},
		{money.USDT, 20_012_345, 991, "20.012400", "20.112400"},
		{money.USDT, 1_000_000, 50, "1.000100", "1.005000"},
		{money.USDT, 999_950, 49, "1.000100", "1.004900"},
		{money.USDT, 1_000_000_000, 5_000, "1000.000100", "1000.505000"},
		{money.USDT, 0, 0, "", ""},
		{money.ETH, 6_666_670_000_000_000, 34, "0.006667000000000000", "0.006700000000000000"},
		{money.ETH, 100_000_000_000_000, 1, "0.000100000000000000", "0.000100000000000000"},
		{money.ETH, 100_600_000_000_000, 1, "0.000101000000000000", "0.000101000000000000"},
		{money.ETH, 10_000_100_000_000, 0, "", ""},
		{money.BTC, 100_000, 0, "", ""},
	} {
		list := oneaddress.ListAmounts(c.coin, money.Units(c.due))
		first, last := "", ""
		if len(list) > 0 {
			unit := c.coin.Info().Unit
			first, last = list[0].Format(unit, unit), list[len(list)-1].Format(unit, unit)
		}
		if len(list) != c.count || first != c.first || last != c.last {
			t.Errorf("ListAmounts(%s, %d) has %d amounts from %s to %s, want %d from %s to %s", c.coin, c.due, len(list),
				first, last, c.count, c.first, c.last)
		}
	}
}

// TestEveryAmountKeepsTheRules: amounts rise by whole steps, never fall below the amount due, exceed it by 0.5 % at
// most, and have three decimals or more.
func TestEveryAmountKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		coin := rapid.SampledFrom([]money.Coin{money.USDT, money.ETH}).Draw(t, "coin")
		due := money.Units(rapid.Int64Range(1, 1<<62).Draw(t, "due"))
		step := map[money.Coin]int64{money.USDT: 100, money.ETH: 1_000_000_000_000}[coin]
		former := due.Sub(money.Units(1))
		for _, a := range oneaddress.ListAmounts(coin, due) {
			if a.Cmp(former) <= 0 {
				t.Fatalf("%s follows %s, and %s is due", a, former, due)
			}
			if a.MulDiv(1_000, 1).Cmp(due.MulDiv(1_005, 1)) > 0 {
				t.Fatalf("%s is more than 0.5 %% above %s", a, due)
			}
			if rest := new(big.Int).Rem(a.Big(), big.NewInt(step)); rest.Sign() != 0 {
				t.Fatalf("%s is no whole number of steps", a)
			}
			if text := a.Format(coin.Info().Unit, 0); len(text)-strings.IndexByte(text+".", '.')-1 < 3 {
				t.Fatalf("%s has fewer than three decimals", text)
			}
			former = a
		}
	})
}
