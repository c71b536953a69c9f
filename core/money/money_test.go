package money_test

import (
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"

	"time"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		units          string
		decimals, show int
		want           string
	}{
		{"0", 8, 8, "0.00000000"}, {"1", 8, 8, "0.00000001"}, {"123456789", 8, 8, "1.23456789"}, {"-5", 8, 8, "-0.00000005"},
		{"1000000000000000000", 18, 8, "1.00000000"}, {"1000000000000000001", 18, 8, "1.000000000000000001"},
		{"1230000000000000000", 18, 0, "1.23"}, {"25000000", 6, 6, "25.000000"}, {"25000000", 6, 0, "25"}, {"7", 0, 0, "7"},
	} {
		a, err := money.ParseUnits(test.units)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Format(test.decimals, test.show); got != test.want {
			t.Errorf("%s: got %s, want %s", test.units, got, test.want)
		}
	}
}

// TestQuoteRounding (FX-6): the quote is worth at least the price, and less than one
// display unit more.
func TestQuoteRounding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		info := rapid.SampledFrom(money.Coins()).Draw(t, "coin")
		fiat := rapid.Int64Range(1, 1_000_000).Draw(t, "fiat")
		price := decimal.New(rapid.Int64Range(1, 1<<60).Draw(t, "price"), -int32(rapid.IntRange(0, 12).Draw(t, "scale")))
		due := info.Coin.FromFiat(decimal.NewFromInt(fiat), price)
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(info.Unit-info.Display)), nil)
		if new(big.Int).Mod(due.Big(), unit).Sign() != 0 {
			t.Fatalf("%s has more than %d decimals", due, info.Display)
		}
		whole := new(big.Rat).SetFrac(due.Big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(info.Unit)), nil))
		worth := new(big.Rat).Mul(whole, price.Rat())
		over := new(big.Rat).Sub(worth, new(big.Rat).SetInt64(fiat))
		step := new(big.Rat).Mul(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(info.Display)), nil)), price.Rat())
		if over.Sign() < 0 || over.Cmp(step) >= 0 {
			t.Fatalf("%d at %s asks %s: %s over", fiat, price, info.Coin.Format(due), over)
		}
	})
}

func TestParseIsExact(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"1": true, "0.00000001": true, "0.000000001": false, "1e-8": false, "": false, "x": false, "1.5": true} {
		if _, err := money.BTC.Parse(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		info := rapid.SampledFrom(money.Coins()).Draw(t, "coin")
		a := money.Units(rapid.Int64Range(0, 1<<62).Draw(t, "units"))
		back, err := info.Coin.Parse(info.Coin.Format(a))
		if err != nil || back.Cmp(a) != 0 {
			t.Fatalf("%s came back as %s, %v", a, back, err)
		}
	})
}

// TestLargeAmounts (FX-7): amounts beyond every machine integer survive both databases.
func TestLargeAmounts(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.Trim(time.Unix(1, 0))
		for i, text := range []string{"0", "9223372036854775808", "300000000000000000001", "115792089237316195423570985008687907853269984665640564039457584007913129639935"} {
			a, err := money.ParseUnits(text)
			if err != nil {
				t.Fatal(err)
			}
			row := models.Transfer{Network: "n", TxID: "t", Index: i, Amount: a, FirstSeenAt: now, CreatedAt: now, UpdatedAt: now}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			var back models.Transfer
			if err := db.Read(t.Context()).Where("id = ?", row.ID).Take(&back).Error; err != nil || back.Amount.String() != text {
				t.Errorf("%s came back as %s, %v", text, back.Amount, err)
			}
		}
	})
}

func TestCurrency(t *testing.T) {
	t.Parallel()
	if money.GHC.ISO() != "GHS" || money.Currency("GHS").Known() {
		t.Error("GHC is looked up as GHS, and GHS itself is no currency here")
	}
	for want, c := range map[string]money.Currency{"₦1,234,567.50": money.NGN, "KSh 1,234,567.50": money.KES, "GH₵1,234,567.50": money.GHC} {
		if got := c.Show(decimal.RequireFromString("1234567.5")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := money.USD.Show(decimal.RequireFromString("-999.999")); got != "−$1,000.00" {
		t.Error(got)
	}
}
