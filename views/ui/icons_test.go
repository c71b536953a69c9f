package ui

import (
	"testing"

	"cointill/core/money"
)

// TestMarksAreDrawn: each coin and each network that is paid with has a mark of its own.
func TestMarksAreDrawn(t *testing.T) {
	t.Parallel()
	seen := map[mark]string{unknown: "one that isn't known"}
	note := func(name string, m mark) {
		if other, taken := seen[m]; taken {
			t.Errorf("%s has the mark of %s", name, other)
		}
		seen[m] = name
	}
	for _, info := range money.Coins() {
		note(string(info.Coin), coinMark(string(info.Coin)))
	}
	for _, code := range money.ListNetworks() {
		m := networkMark(string(code))
		if networkCoins[string(code)] == "" {
			note(string(code), m)
		} else if m == unknown {
			t.Errorf("%s has no mark", code)
		}
	}
	if coinMark("none") != unknown || networkMark("none") != unknown {
		t.Error("a coin or network that isn't known has the mark of another one")
	}
}
