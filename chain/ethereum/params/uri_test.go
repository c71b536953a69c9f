package params

import (
	"testing"

	"cointill/core/money"
)

// TestURI compares with the two examples of EIP-681, with their chain id and with the amount as a
// plain integer.
func TestURI(t *testing.T) {
	t.Parallel()
	got := EtherURI(1, "0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359", money.Units(2_014_000_000_000_000_000))
	if want := "ethereum:0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359@1?value=2014000000000000000"; got != want {
		t.Errorf("EtherURI gives %q, want %q", got, want)
	}
	got = TokenURI(1, "0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7", "0x8e23ee67d1332ad560396262c48ffbb01f93d052",
		money.Units(1))
	if want := "ethereum:0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7@1/transfer" +
		"?address=0x8e23ee67d1332ad560396262c48ffbb01f93d052&uint256=1"; got != want {
		t.Errorf("TokenURI gives %q, want %q", got, want)
	}
}
