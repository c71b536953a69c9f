package receiving

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/wallet"
)

// longRun is the part of a key or descriptor that sentences shorten.
var longRun = regexp.MustCompile(`[0-9A-Za-z]{24,}`)

// ShortKey returns a key as people recognise it: its beginning and its end. The text around it in a
// descriptor stays.
func ShortKey(key string) string {
	if count := strings.Count(key, " 0x"); count > 0 {
		return strconv.Itoa(count+1) + " addresses, the first " + key[:8] + "…" + key[36:42]
	}
	return longRun.ReplaceAllStringFunc(key, func(run string) string { return run[:8] + "…" + run[len(run)-6:] })
}

// DescribeKey describes what people read of a wallet's key: a short form, and an account whole,
// so that every character can be compared.
func DescribeKey(key, script string) string {
	if script == wallet.ScriptAccount || script == wallet.ScriptAddress {
		return key
	}
	return ShortKey(key)
}

// DescribeKind says what sort of addresses a script makes on a network, and how they
// begin there: "native SegWit (bc1q…)".
func DescribeKind(script, network string) fault.Message {
	name := wallet.KindName(script)
	if p, known := wallet.Find(network); known && samples[script] != nil {
		if example := p.Address(samples[script]); example != "" {
			return fault.NewMessage("%s (%s…)", name, addressPrefix(example))
		}
	}
	return name
}

// samples are outputs of each script, to see how its addresses begin.
var samples = map[string][]byte{
	wallet.ScriptPKH:     slices.Concat([]byte{0x76, 0xa9, 20}, make([]byte, 20), []byte{0x88, 0xac}),
	wallet.ScriptShWPKH:  slices.Concat([]byte{0xa9, 20}, make([]byte, 20), []byte{0x87}),
	wallet.ScriptWPKH:    slices.Concat([]byte{0, 20}, make([]byte, 20)),
	wallet.ScriptTaproot: slices.Concat([]byte{0x51, 32}, make([]byte, 32)),
}

// addressPrefix returns what all addresses of a kind begin with: prefix and version in
// bech32, whose last 1 ends the prefix, else the first character.
func addressPrefix(address string) string {
	if one := strings.LastIndexByte(address, '1'); strings.ToLower(address) == address && one+2 <= len(address) {
		return address[:one+2]
	}
	return address[:1]
}

// NetworkName is a real network as people say it: "Bitcoin", or "Bitcoin
// testnet4" where its coins are worth nothing.
func NetworkName(network string) string {
	kind, name, _ := strings.Cut(network, "-")
	if n, known := money.FindTronNetwork(network); known {
		return n.Label
	}
	for _, coin := range money.Coins() {
		if string(coin.Chain) == kind && name == "mainnet" {
			return coin.Network
		} else if string(coin.Chain) == kind {
			return coin.Network + " " + name
		}
	}
	return network
}
