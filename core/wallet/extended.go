package wallet

import (
	"errors"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/core/money"
)

// format is what the version bytes of an extended key say of it.
type format struct {
	prefix  string
	of      string // whose it is
	private bool
}

// formats are the version bytes in use (SLIP-132 and the coins' own), so that
// the error for a key of another network can name that network.
var formats = map[[4]byte]format{
	{0x04, 0x88, 0xb2, 0x1e}: {"xpub", "a main network", false},
	{0x04, 0x9d, 0x7c, 0xb2}: {"ypub", "Bitcoin's main network", false},
	{0x04, 0xb2, 0x47, 0x46}: {"zpub", "Bitcoin's main network", false},
	{0x04, 0x35, 0x87, 0xcf}: {"tpub", "a test network", false},
	{0x04, 0x4a, 0x52, 0x62}: {"upub", "Bitcoin's test networks", false},
	{0x04, 0x5f, 0x1c, 0xf6}: {"vpub", "Bitcoin's test networks", false},
	{0x04, 0x20, 0xbd, 0x3a}: {"spub", "Bitcoin's simulation network", false},
	{0x02, 0xfa, 0xca, 0xfd}: {"dgub", "Dogecoin's main network", false},
	{0x02, 0x95, 0xb4, 0x3f}: {"Ypub", several, false},
	{0x02, 0xaa, 0x7e, 0xd3}: {"Zpub", several, false},
	{0x02, 0x42, 0x89, 0xef}: {"Upub", several, false},
	{0x02, 0x57, 0x54, 0x83}: {"Vpub", several, false},
	{0x01, 0x9d, 0xa4, 0x62}: {"Ltub", "Litecoin's main network", false},
	{0x01, 0xb2, 0x6e, 0xf6}: {"Mtub", "Litecoin's main network", false},

	{0x04, 0x88, 0xad, 0xe4}: {"xprv", "", true},
	{0x04, 0x9d, 0x78, 0x78}: {"yprv", "", true},
	{0x04, 0xb2, 0x43, 0x0c}: {"zprv", "", true},
	{0x04, 0x35, 0x83, 0x94}: {"tprv", "", true},
	{0x04, 0x4a, 0x4e, 0x28}: {"uprv", "", true},
	{0x04, 0x5f, 0x18, 0xbc}: {"vprv", "", true},
	{0x04, 0x20, 0xb9, 0x00}: {"sprv", "", true},
	{0x02, 0xfa, 0xc3, 0x98}: {"dgpv", "", true},
	{0x02, 0x95, 0xb0, 0x05}: {"Yprv", "", true},
	{0x02, 0xaa, 0x7a, 0x99}: {"Zprv", "", true},
	{0x02, 0x42, 0x85, 0xb5}: {"Uprv", "", true},
	{0x02, 0x57, 0x50, 0x48}: {"Vprv", "", true},
	{0x01, 0x9d, 0x9c, 0xfe}: {"Ltpv", "", true},
	{0x01, 0xb2, 0x67, 0x92}: {"Mtpv", "", true},
}

const several = "a wallet with several signers"

// parseExtended reads an extended public key of the network, and returns its prefix
// and the script that the prefix names ("" for none).
func parseExtended(text string, p Net) (key *hdkeychain.ExtendedKey, prefix, script string, err error) {
	key, err = hdkeychain.NewKeyFromString(text)
	switch {
	case errors.Is(err, hdkeychain.ErrInvalidKeyLen):
		return nil, "", "", errKey(
			"This is no account's public key. In your wallet look for the account's extended public key: " + listPrefixes(p) +
				".")
	case errors.Is(err, hdkeychain.ErrBadChecksum):
		return nil, "", "", errKey("Some character of this key is wrong or missing. Copy it again from your wallet.")
	case err != nil || key.IsPrivate():
		return nil, "", "", errKey("This key is not valid. Copy it again from your wallet.")
	}
	version := [4]byte(key.Version())
	script, fits := p.KeyVersions[version]
	known, ok := formats[version]
	switch {
	case !ok || known.private: // a private key's version with a public key in it
		return nil, "", "", errKey("This key is of a kind that is not known here. Needed is a key of " +
			networkName(p) + ": " + listPrefixes(p) + ".")
	case !fits:
		return nil, "", "", errKey("What begins with " + known.prefix + " is a key of " + known.of +
			". Needed is a key of " + networkName(p) + ": " + listPrefixes(p) + ".")
	}
	return key, known.prefix, script, nil
}

// listPrefixes lists the prefixes that the network's keys have: "xpub, ypub or zpub".
func listPrefixes(p Net) string {
	var prefixes []string
	for version := range p.KeyVersions {
		prefixes = append(prefixes, formats[version].prefix)
	}
	slices.Sort(prefixes)
	if last := len(prefixes) - 1; last > 0 {
		return strings.Join(prefixes[:last], ", ") + " or " + prefixes[last]
	}
	return strings.Join(prefixes, "")
}

// networkName is what sentences call a network.
func networkName(p Net) string {
	label := p.Coin.Info().Network
	if n, ok := money.FindTronNetwork(string(p.Network())); ok {
		label = n.Label
	}
	switch {
	case !p.Test:
		return label + "'s main network"
	case p.Chain == money.Tron:
		return label // it has the name
	}
	return label + "'s test network " + p.Name
}
