package xrpl

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestLedgerIndexIsPlainDecimal (XRP-7) checks that an index is a number of 32 bits in its only
// spelling, as a number or in quotes.
func TestLedgerIndexIsPlainDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`0`: 0, `5`: 5, `"5"`: 5, `4294967295`: maxIndex, `4294967296`: -1,
		`"4294967296"`: -1, `05`: -1, `"05"`: -1, `+5`: -1, `-1`: -1, `5.0`: -1, `5e0`: -1, `""`: -1, ``: -1, `null`: -1,
		`"first"`: -1} {
		got, ok := parseIndex(jsontext.Value(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseIndex(%s) = %d, %v; want %d, where -1 is no index", text, got, ok, want)
		}
	}
}

// TestHashIsUpperCaseHex (XRP-7) checks that a hash is 64 digits of 0-9 and A-F.
func TestHashIsUpperCaseHex(t *testing.T) {
	t.Parallel()
	for _, digit := range "09AF" {
		if text := strings.Repeat(string(digit), 64); !isHash(text) {
			t.Errorf("isHash(%s) = false, want true", text)
		}
	}
	for _, text := range []string{"", strings.Repeat("A", 63), strings.Repeat("A", 65)} {
		if isHash(text) {
			t.Errorf("isHash of %d digits = true, want false", len(text))
		}
	}
	for _, other := range "/:@Gag \x00" {
		if text := strings.Repeat("A", 63) + string(other); isHash(text) {
			t.Errorf("isHash(%q) = true, want false", text)
		}
	}
}

// validHeader returns a header of the ledger 5 with its hash.
func validHeader(t *testing.T) *ledgerHeader {
	t.Helper()
	h := &ledgerHeader{AccountHash: strings.Repeat("A", 64), ParentHash: strings.Repeat("B", 64),
		TransactionHash: strings.Repeat("C", 64), TotalCoins: "100000000000000000", CloseTime: 7,
		LedgerIndex: jsontext.Value(`5`), Closed: true}
	var err error
	if h.LedgerHash, err = h.computeHash(5); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHeaderMustProveItsHash (XRP-7) checks that a header counts only with its index, its time and
// all fields of its hash, also if the hash itself is missing.
func TestHeaderMustProveItsHash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*ledgerHeader)
		words  string // of the error
	}{
		"unchanged":             {func(*ledgerHeader) {}, ""},
		"another index":         {func(h *ledgerHeader) { h.LedgerIndex = jsontext.Value(`6`) }, "instead of 5"},
		"an index spelled else": {func(h *ledgerHeader) { h.LedgerIndex = jsontext.Value(`05`) }, "instead of 5"},
		"no hash":               {func(h *ledgerHeader) { h.LedgerHash = "" }, "doesn't match its hash"},
		"more coins than exist": {func(h *ledgerHeader) { h.TotalCoins = "100000000000000001" }, "total_coins"},
		"coins in words":        {func(h *ledgerHeader) { h.TotalCoins = "all" }, "total_coins"},
		"no coins":              {func(h *ledgerHeader) { h.TotalCoins = "" }, "total_coins"},
		"no parent":             {func(h *ledgerHeader) { h.ParentHash = "" }, "a hash in the header is none"},
		"transactions in small": {func(h *ledgerHeader) { h.TransactionHash = strings.Repeat("c", 64) },
			"a hash in the header is none"},
		"a short account hash": {func(h *ledgerHeader) { h.AccountHash = "AA" }, "a hash in the header is none"},
	} {
		for _, keepHash := range []bool{true, false} {
			h := validHeader(t)
			if c.change(h); !keepHash && c.words != "" {
				h.LedgerHash = ""
			}
			got, err := h.verifyHeader(5)
			if c.words == "" && (err != nil || got.Hash != h.LedgerHash || got.Height != 5) ||
				c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("%s, with its hash %v: header %+v, error %v; want %q", name, keepHash, got, err, c.words)
			}
		}
	}
}
