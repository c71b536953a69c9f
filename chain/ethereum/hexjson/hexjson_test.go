package hexjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cointill/chain/ethereum/hexjson"
)

// decodeHexAs decodes JSON as one of the types of hex digits, and formats the value.
func decodeHexAs(kind, text string) (string, error) {
	switch kind {
	case "quantity":
		var n hexjson.Quantity
		err := json.Unmarshal([]byte(text), &n)
		return fmt.Sprint(int64(n)), err
	case "nonce":
		var n hexjson.Nonce
		err := json.Unmarshal([]byte(text), &n)
		return fmt.Sprint(uint64(n)), err
	case "wei":
		var w hexjson.Wei
		err := json.Unmarshal([]byte(text), &w)
		return w.ToAmount().String(), err
	case "hash":
		var h hexjson.Hash
		err := json.Unmarshal([]byte(text), &h)
		return h.String(), err
	case "account":
		var a hexjson.Account
		err := json.Unmarshal([]byte(text), &a)
		return strings.ToLower(a.String()), err
	}
	var b hexjson.Bytes
	err := json.Unmarshal([]byte(text), &b)
	return fmt.Sprintf("%x %v", []byte(b), b == nil), err
}

// hexCases are JSON texts with the value that a type reads from each; "" means an error.
func hexCases() []struct{ kind, text, want string } {
	digits := func(digit string, n int) string { return `"0x` + strings.Repeat(digit, n) + `"` }
	maxWei := "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	return []struct{ kind, text, want string }{
		{"quantity", `"0x10"`, "16"},
		{"quantity", `"0x0"`, "0"},
		{"quantity", `"0x7fffffffffffffff"`, "9223372036854775807"},
		{"quantity", `"0x8000000000000000"`, ""},
		{"quantity", `"0x0000000000000000000000000011"`, "17"},
		{"quantity", `"0x"`, ""},
		{"quantity", `"0xg0"`, ""},
		{"quantity", `"0010"`, ""},
		{"quantity", `"1x10"`, ""},
		{"quantity", `"0"`, ""},
		{"quantity", `""`, ""},
		{"quantity", `16`, ""},
		{"quantity", `null`, ""},
		{"nonce", `"0xffffffffffffffff"`, "18446744073709551615"},
		{"nonce", `"0x10000000000000000"`, ""},
		{"nonce", `"0x"`, ""},
		{"nonce", `"x"`, ""},
		{"nonce", `7`, ""},
		{"wei", `"0x5"`, "5"},
		{"wei", `"0x"`, "0"},
		{"wei", digits("f", 64), maxWei},
		{"wei", digits("f", 65), ""},
		{"wei", `"0x0` + strings.Repeat("f", 64) + `"`, ""},
		{"wei", `"0xzz"`, ""},
		{"wei", `5`, ""},
		{"hash", digits("a", 64), "0x" + strings.Repeat("a", 64)},
		{"hash", digits("a", 62), ""},
		{"hash", digits("a", 66), ""},
		{"hash", digits("g", 64), ""},
		{"hash", `"` + strings.Repeat("a", 66) + `"`, ""},
		{"hash", `true`, ""},
		{"account", digits("1", 40), "0x" + strings.Repeat("1", 40)},
		{"account", digits("1", 38), ""},
		{"account", digits("1", 42), ""},
		{"bytes", `"0x0aff"`, "0aff false"},
		{"bytes", `"0x"`, " false"},
		{"bytes", `null`, " true"},
		{"bytes", `"0x0af"`, ""},
		{"bytes", `"0xg0"`, ""},
		{"bytes", `"0aff"`, ""},
		{"bytes", `"1x0a"`, ""},
		{"bytes", `"0"`, ""},
		{"bytes", `""`, ""},
		{"bytes", `7`, ""},
	}
}

// TestHexDigitsAreReadExactly (ETH-4) checks that each type reads a string of 0x and hex digits in
// its range, and rejects every other JSON value.
func TestHexDigitsAreReadExactly(t *testing.T) {
	t.Parallel()
	for _, c := range hexCases() {
		got, err := decodeHexAs(c.kind, c.text)
		if (err != nil) != (c.want == "") || err == nil && got != c.want {
			t.Errorf("%s read as %s = %s, error %v; want %q", c.text, c.kind, got, err, c.want)
		}
		if !strings.HasPrefix(c.text, `"`) {
			continue
		}
		if _, err := decodeHexAs(c.kind, strings.TrimSuffix(c.text, `"`)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s without its last quote read as %s: error %v, want an unexpected end", c.text, c.kind, err)
		}
	}
	if _, err := decodeHexAs("bytes", `"0x0af"`); !errors.Is(err, hexjson.ErrHex) {
		t.Errorf("an odd number of digits: error %v, want %v", err, hexjson.ErrHex)
	}
}

// TestHashTextIsReadExactly checks that ReadHash reads what String writes, and nothing else.
func TestHashTextIsReadExactly(t *testing.T) {
	t.Parallel()
	text := hexjson.Hash{1, 2}.String()
	if h, err := hexjson.ReadHash(text); err != nil || h != (hexjson.Hash{1, 2}) {
		t.Errorf("hexjson.ReadHash(%s) = %s, %v; want the same hash", text, h, err)
	}
	for _, wrong := range []string{"", text[2:], text[:64], text + "00", "1x" + text[2:], "00" + text[2:],
		text[:65] + "g"} {
		if h, err := hexjson.ReadHash(wrong); err == nil {
			t.Errorf("hexjson.ReadHash(%q) = %s, want an error", wrong, h)
		}
	}
}
