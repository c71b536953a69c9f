package money_test

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
)

// TestUsualFeesAreComplete: each network that USDT or ether is paid on has a limit for its fee, with a source and a
// date, and docs/wallets.md has the same one. Coins with one network of their own have none.
func TestUsualFeesAreComplete(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/wallets.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, coin := range []money.Coin{money.USDT, money.ETH} {
		for _, code := range coin.Info().Chains() {
			facts, known := money.FindNetworkFacts(code)
			fee := facts.UsualFee(coin)
			if !known || fee == "" {
				t.Errorf("%s on %s has the fee %q, want a limit", coin, code, fee)
			}
			row := "| " + facts.CoinLabel(coin) + " | " + string(coin) + " | under " + fee + " |"
			if !strings.Contains(string(docs), row) {
				t.Errorf("docs/wallets.md lacks the row %q", row)
			}
		}
	}
	for _, code := range money.ListNetworks() {
		facts, known := money.FindNetworkFacts(code)
		for _, coin := range []money.Coin{money.BTC, money.USDT, money.ETH, facts.Native} {
			paid := slices.Contains(coin.Info().Chains(), code)
			if fee := facts.UsualFee(coin); known && fee != "" && !paid || !known && fee != "" {
				t.Errorf("%s on %s has the fee %q, want none where no payment is made in it", coin, code, fee)
			}
		}
		if known {
			checkFees(t, string(code), facts.Fees)
		}
	}
}

// checkFees checks a network's limits, and that they name where they were looked up, and when.
func checkFees(t *testing.T, name string, fees money.UsualFees) {
	t.Helper()
	for _, limit := range []decimal.Decimal{fees.Token, fees.Native} {
		if limit.IsNegative() || limit.GreaterThan(decimal.NewFromInt(10)) {
			t.Errorf("%s has the fee %s, want 0 to 10 USD", name, limit)
		}
	}
	for _, text := range fees.Sources {
		address, _, _ := strings.Cut(text, " ")
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s names %q as a source of its fee, want an address with https", name, text)
		}
	}
	if len(fees.Sources) < 2 {
		t.Errorf("%s names %d sources of its fee, want two", name, len(fees.Sources))
	}
	if _, err := time.Parse(time.DateOnly, fees.Checked); err != nil {
		t.Errorf("%s has a fee that was checked on %q, want a date", name, fees.Checked)
	}
}

// TestUsualFeesHoldAtHighPrices: a limit holds at the prices of gas and of the coin that its comment names.
func TestUsualFeesHoldAtHighPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain money.Chain
		coin  money.Coin
		gas   int64
		// price is of gas in the coin that pays the fee, coinPrice of that coin in USD.
		price, coinPrice, want string
	}{
		{money.Ethereum, money.USDT, 65_000, "0.00000001", "3000", "2 USD"},
		{money.Ethereum, money.ETH, 21_000, "0.000000015", "3000", "1 USD"},
		{money.Tron, money.USDT, 130_285 + 3_450, "0.0001", "0.37", "5 USD"}, // 345 of bandwidth cost 3,450 of energy
		{money.BSC, money.USDT, 65_000, "0.000000001", "1500", "0.10 USD"},
		{money.Polygon, money.USDT, 65_000, "0.0000015", "1", "0.10 USD"},
		{money.Arbitrum, money.USDT, 65_000 + 45_000, "0.0000000003", "3000", "0.10 USD"},
		{money.Arbitrum, money.ETH, 21_000 + 45_000, "0.0000000003", "3000", "0.10 USD"},
		{money.Celo, money.USDT, 65_000 + 50_000, "0.0000005", "1.70", "0.10 USD"},
		{money.Base, money.ETH, 21_000, "0.0000000015", "3000", "0.10 USD"},
	} {
		facts, _ := money.FindNetworkFacts(c.chain)
		limit, _, _ := strings.Cut(c.want, " ")
		fee := decimal.NewFromInt(c.gas).Mul(decimal.RequireFromString(c.price)).
			Mul(decimal.RequireFromString(c.coinPrice))
		if got := facts.UsualFee(c.coin); got != c.want || fee.GreaterThan(decimal.RequireFromString(limit)) {
			t.Errorf("%s on %s has the fee %q, want %q, above %s USD", c.coin, c.chain, got, c.want, fee)
		}
	}
}
