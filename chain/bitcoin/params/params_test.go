package params_test

import (
	"bytes"
	"testing"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// Addresses of each format from BIP 173, BIP 350, BIP 49 and public block explorers' first blocks.
var knownAddresses = []struct {
	chain   money.Chain
	network string
	address string
	other   string // a network of the same chain that must refuse it
}{
	{money.Bitcoin, "mainnet", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "regtest"},
	{money.Bitcoin, "mainnet", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG", "testnet4"},
	{money.Bitcoin, "mainnet", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "testnet4"},
	{money.Bitcoin, "mainnet", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "regtest"},
	{money.Bitcoin, "testnet4", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "mainnet"},
	{money.Bitcoin, "testnet4", "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2", "mainnet"},
	{money.Dogecoin, "mainnet", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", "testnet"},
}

func TestAddressesRoundTripThroughScripts(t *testing.T) {
	for _, k := range knownAddresses {
		p, ok := params.Lookup(k.chain, k.network)
		if !ok {
			t.Fatalf("no network %s %s", k.chain, k.network)
		}
		script := p.Script(k.address)
		if script == nil || p.Address(script) != k.address {
			t.Errorf("%s: script %x, back %q", k.address, script, p.Address(script))
		}
		other, _ := params.Lookup(k.chain, k.other)
		if got := other.Script(k.address); got != nil {
			t.Errorf("%s: %s takes it as %x", k.address, k.other, got)
		}
	}
	doge, _ := params.Lookup(money.Dogecoin, "mainnet")
	for _, foreign := range []string{"", "x", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "none1qw508d6qejxtdg4y5r3zarvary0c5xw7kuwws6c"} {
		if doge.Script(foreign) != nil {
			t.Errorf("Dogecoin takes %q", foreign)
		}
	}
}

// TestScriptsMatchBIP173AndBIP350: scripts equal those printed in BIP 173 and BIP 350.
func TestScriptsMatchBIP173AndBIP350(t *testing.T) {
	p, _ := params.Lookup(money.Bitcoin, "mainnet")
	for address, script := range map[string][]byte{
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": {0x00, 0x14, 0x75, 0x1e, 0x76, 0xe8, 0x19, 0x91, 0x96, 0xd4,
			0x54, 0x94, 0x1c, 0x45, 0xd1, 0xb3, 0xa3, 0x23, 0xf1, 0x43, 0x3b, 0xd6},
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": append([]byte{0x51, 0x20},
			0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02,
			0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98),
	} {
		if got := p.Script(address); !bytes.Equal(got, script) {
			t.Errorf("%s: %x", address, got)
		}
	}
	for _, strange := range [][]byte{nil, {0x6a, 1, 2}, make([]byte, 25), {0x00, 0x14},
		append([]byte{0x52, 0x20}, make([]byte, 32)...)} {
		if a := p.Address(strange); a != "" {
			t.Errorf("%x has the address %s", strange, a)
		}
	}
}
