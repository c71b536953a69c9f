package source

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// TestParseValue (FX-3): a number is read as it is written, or not at all.
func TestParseValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "1": "1", "-1.50": "-1.5", "67012.345": "67012.345", "6.9023031278661e-5": "0.000069023031278661",
		"1E+3": "1000", "1e29": "1" + strings.Repeat("0", 29), "1e-30": "0." + strings.Repeat("0", 29) + "1",
		strings.Repeat("9", 30): strings.Repeat("9", 30), "0." + strings.Repeat("1", 30): "0." + strings.Repeat("1", 30),
		"1.00e-28": "0." + strings.Repeat("0", 27) + "1",
	} {
		if got, err := parseValue(text); err != nil || got.String() != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "null", "NaN", "nan", "Inf", "-Infinity", "∞", "N/A", "-", "+1", "--1", "1-", ".5", "5.", "1.2.3", "1e", "e1", "1e+", "1e1.5",
		"0x1F", "0b1", "0o7", "1_000", "1,000", "1 000", "1\n", "\t1", "$1", "1%", "01", "-01", "١", "１", "1\x00",
		"1e400000000", "1e999999999", "1e-400", "1e999", "-1e-999", "1e30", "10e29", "1e-31", "1.0e-30", "0e999", "0e-400", "1e1000", "1e0001",
		strings.Repeat("9", 20) + "." + strings.Repeat("9", 20), strings.Repeat("9", 31), "0." + strings.Repeat("1", 31), strings.Repeat("0", 41), strings.Repeat("1", 1<<20),
		"1e9223372036854775807", "1e-9223372036854775808", "1e2147483648",
	} {
		if got, err := parseValue(text); err == nil {
			t.Errorf("%.50q is read as %s", text, got)
		}
	}
}

// bounded reports whether a value has no more digits than parseValue lets pass;
// the middle of two such values has none more either.
func bounded(value decimal.Decimal) bool {
	limit := decimal.New(1, maxDigits)
	return value.Abs().LessThan(limit) && value.Exponent() >= -maxDigits && value.Exponent() <= maxDigits
}

// worthless are what stood in the place of a price before.
var worthless = []string{"NaN", "Inf", "-Infinity", "0", "-0.0", "-1.50", "1e-400", "1e400000000", "", "null"}

// digits are a number of a document that may be a price.
var digits = regexp.MustCompile(`\d+\.\d+`)

// FuzzParseValue (FX-3): what passes is bounded, and the number that was written.
//
//fuzz:inputs 50000
func FuzzParseValue(f *testing.F) {
	for _, text := range append([]string{"1.50", "6.9e-5", "1e29", "0x1F", "1_0", "1E+3", "1e-31"}, worthless...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := parseValue(text)
		if err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok || exact.Cmp(value.Rat()) != 0 {
			t.Errorf("%q is read as %s", text, value)
		}
		if !bounded(value) || len(text) > maxText {
			t.Errorf("%q is not bounded: %s", text, value)
		}
	})
}

// FuzzRead (FX-3) gives every document to its reader: it never panics, and says nothing
// but bounded values of its own pairs, each once, at times that can be.
//
//fuzz:inputs 40000
func FuzzRead(f *testing.F) {
	var documents []Document
	for _, g := range good {
		body := sample(f, g.source, g.file)
		f.Add(uint8(len(documents)), body)
		for _, text := range worthless {
			f.Add(uint8(len(documents)), digits.ReplaceAllLiteral(body, []byte(text)))
		}
		documents = append(documents, document(f, g.source, g.pair))
	}
	for _, text := range []string{"", "null", "{}", "[]", "<html>", `{"error":["E"]}`, `{"code":"1"}`, `{"result":"error"}`, strings.Repeat("[", 100)} {
		f.Add(uint8(0), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		d := documents[int(which)%len(documents)]
		prices, err := d.Read(body, noon)
		if (err == nil) != (len(prices) > 0) {
			t.Errorf("%d prices and %v", len(prices), err)
		}
		left := map[Pair]bool{}
		for _, p := range d.Pairs {
			left[p] = true
		}
		for _, p := range prices {
			if !left[p.Pair] || !bounded(p.Value) || p.At.Before(earliest) || !p.At.Before(latest) || p.At.Location() != noon.Location() {
				t.Errorf("%s %s at %s", p, p.Value, p.At)
			}
			delete(left, p.Pair)
		}
	})
}
