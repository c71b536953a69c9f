package money_test

import (
	"encoding/json"
	"errors"
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

// anyAmount draws from 0 to 2^256-1, each length of it as often as any other.
func anyAmount() *rapid.Generator[money.Amount] {
	return rapid.Custom(func(t *rapid.T) money.Amount {
		bits := rapid.IntRange(0, 256).Draw(t, "bits")
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes"))
		return money.FromBig(n.Rsh(n, uint(256-bits)))
	})
}

// TestAnyAmount (FX-7): from 0 to 2^256-1, what is computed with amounts is what big
// integers say, and each comes back whole from text, JSON and what databases keep.
func TestAnyAmount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyAmount().Draw(t, "a"), anyAmount().Draw(t, "b")
		x, y := a.Big(), b.Big()
		sum, less := new(big.Int).Add(x, y), new(big.Int).Sub(x, y)
		num, den := rapid.Int64Range(0, 1<<62).Draw(t, "num"), rapid.Int64Range(1, 1<<62).Draw(t, "den")
		share := new(big.Int).Mul(x, big.NewInt(num))
		share.Quo(share, big.NewInt(den))
		for what, both := range map[string][2]*big.Int{"sum": {a.Add(b).Big(), sum}, "difference": {a.Sub(b).Big(), less},
			"distance": {a.Sub(b).Abs().Big(), new(big.Int).Abs(less)}, "share": {a.MulDiv(num, den).Big(), share}, "what it was": {a.Big(), x}} {
			if both[0].Cmp(both[1]) != 0 {
				t.Fatalf("the %s of %s and %s (%d/%d) is %s, want %s", what, x, y, num, den, both[0], both[1])
			}
		}
		if a.Cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.String() != x.String() {
			t.Fatalf("%s and %s: %d, %d, %s", x, y, a.Cmp(b), a.Sign(), a)
		}
		value, err := a.Value()
		var kept, sent money.Amount
		text, wrong := json.Marshal(a)
		if err := errors.Join(err, wrong, kept.Scan(value), json.Unmarshal(text, &sent)); err != nil || kept.Cmp(a) != 0 || sent.Cmp(a) != 0 {
			t.Fatalf("%s is kept as %s and sent as %s: %v", x, kept, sent, err)
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
		a := anyAmount().Draw(t, "units")
		back, err := info.Coin.Parse(info.Coin.Format(a))
		if err != nil || back.Cmp(a) != 0 {
			t.Fatalf("%s came back as %s, %v", a, back, err)
		}
	})
}

// TestLargeAmounts (FX-7): amounts up to 2^256-1 survive both databases, those at the
// edge of a machine's integer or float too.
func TestLargeAmounts(t *testing.T) {
	texts := []string{"300000000000000000001"}
	for power, n := 0, big.NewInt(1); power <= 256; power, n = power+1, n.Lsh(n, 1) {
		texts = append(texts, new(big.Int).Sub(n, big.NewInt(1)).String())
		if power < 256 {
			texts = append(texts, new(big.Int).Add(n, big.NewInt(1)).String())
		}
	}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.Trim(time.Unix(1, 0))
		rows := make([]models.Transfer, len(texts))
		for i, text := range texts {
			a, err := money.ParseUnits(text)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = models.Transfer{Network: "n", TxID: "t", Index: i, Amount: a, FirstSeenAt: now, CreatedAt: now, UpdatedAt: now}
		}
		var back []models.Transfer
		if err := errors.Join(db.Exec(t.Context()).CreateInBatches(rows, 100).Error, db.Read(t.Context()).Order("id").Find(&back).Error); err != nil || len(back) != len(texts) {
			t.Fatalf("%d of %d, %v", len(back), len(texts), err)
		}
		for i, row := range back {
			if row.Index != i || row.Amount.String() != texts[i] {
				t.Errorf("%s came back as %s", texts[i], row.Amount)
			}
		}
	})
}

func TestCurrency(t *testing.T) {
	t.Parallel()
	if money.GHC.ISOCode() != "GHS" || money.Currency("GHS").IsKnown() {
		t.Error("GHC is looked up as GHS, and GHS itself is no currency here")
	}
	for want, c := range map[string]money.Currency{"₦1,234,567.50": money.NGN, "KSh 1,234,567.50": money.KES, "GH₵1,234,567.50": money.GHC} {
		if got := c.FormatForPeople(decimal.RequireFromString("1234567.5")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := money.USD.FormatForPeople(decimal.RequireFromString("-999.999")); got != "−$1,000.00" {
		t.Errorf(`money.USD.Show(decimal.RequireFromString("-999.999")): got = %v`, got)
	}
}
