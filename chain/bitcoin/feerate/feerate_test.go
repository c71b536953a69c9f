package feerate

import (
	"testing"

	"cointill/core/money"
)

// TestRatesAreParsedExactly parses rates as nodes write them: in BTC for 1,000 virtual bytes, and in satoshi for one.
func TestRatesAreParsedExactly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		factor int64
		want   int64
	}{
		{"0.00001000", 1e8, 1000}, {"0.00012345", 1e8, 12_345}, {"1e-05", 1e8, 1000}, {"1E-5", 1e8, 1000},
		{"2.5e+0", 1e8, 250_000_000}, {"3", 1e8, 300_000_000}, {"3e1", 1, 30},
		{"0.000000001", 1e8, 1}, {"0.00001000000000001", 1e8, 1001}, {"0.000000010000000001", 1e8, 2},
		{"1.0119999999999998", 1000, 1012}, {"20.001", 1000, 20_001}, {"20.0010000001", 1000, 20_002},
		{"999999999", 1e8, 99_999_999_900_000_000}, {"0.123456789012345678", 1, 1}, {"1e-99", 1e8, 1},
		{"1e-100", 1e8, 0},
		{"92233720368.54775807", 1e8, 0}, {"922337203e10", 1, 9_223_372_030_000_000_000},
		{"9.223372036854775807e18", 1, 9_223_372_036_854_775_807}, {"9.223372036854775808e18", 1, 0},
		{"1e99", 1e8, 0}, {"1e999999999", 1e8, 0}, {"1e-999999999", 1e8, 0}, {"1e100", 1, 0}, {"1000000000", 1, 0},
		{"0.1234567890123456789", 1, 0}, {"0", 1e8, 0}, {"0.0", 1e8, 0}, {"0e9", 1e8, 0},
		{"-1", 1e8, 0}, {"-1.00000000", 1e8, 0}, {"-1e-5", 1e8, 0}, {"+1", 1e8, 0}, {"", 1e8, 0}, {"null", 1e8, 0},
		{`"0.1"`, 1e8, 0}, {"NaN", 1e8, 0}, {"Inf", 1e8, 0}, {"1/3", 1e8, 0}, {"0x10", 1e8, 0}, {".5", 1e8, 0},
		{"5.", 1e8, 0}, {"1_0", 1e8, 0}, {" 1", 1e8, 0}, {"1 ", 1e8, 0}, {"1\n", 1e8, 0}, {"1.5.5", 1e8, 0},
		{"e5", 1e8, 0},
	} {
		if got := Parse(c.text, c.factor); got != c.want {
			t.Errorf("Parse(%q, %d) = %d, want %d", c.text, c.factor, got, c.want)
		}
	}
}

// TestRatesAreShownAsWalletsDo writes rates of both coins.
func TestRatesAreShownAsWalletsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		coin money.Coin
		rate int64
		want string
	}{
		{money.BTC, 1000, "1 sat/vB"}, {money.BTC, 1, "0.001 sat/vB"}, {money.BTC, 999, "0.999 sat/vB"},
		{money.BTC, 1001, "1.001 sat/vB"}, {money.BTC, 12_500, "12.5 sat/vB"}, {money.BTC, 10_010, "10.01 sat/vB"},
		{money.BTC, 5_000_000, "5000 sat/vB"}, {money.BTC, 0, "0 sat/vB"},
		{money.DOGE, 1_000_000, "0.01 DOGE/kB"}, {money.DOGE, 2_000_000, "0.02 DOGE/kB"},
		{money.DOGE, 5_000_000_000, "50 DOGE/kB"}, {money.DOGE, 1_234_567, "0.01234567 DOGE/kB"},
	} {
		if got := Format(c.coin, c.rate); got != c.want {
			t.Errorf("Format(%s, %d) = %q, want %q", c.coin, c.rate, got, c.want)
		}
	}
}
