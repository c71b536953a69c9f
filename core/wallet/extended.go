package wallet

import (
	"errors"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/core/fault"
	"cointill/core/money"
)

// format is what the version bytes of an extended key say of it.
type format struct {
	prefix  string
	of      fault.Message // whose it is
	private bool
}

// formats are the version bytes in use (SLIP-132 and the coins' own), so that
// the error for a key of another network can name that network.
var formats = map[[4]byte]format{
	{0x04, 0x88, 0xb2, 0x1e}: {"xpub", fault.NewMessage("a main network"), false},
	{0x04, 0x9d, 0x7c, 0xb2}: {"ypub", fault.NewMessage("%s's main network", "Bitcoin"), false},
	{0x04, 0xb2, 0x47, 0x46}: {"zpub", fault.NewMessage("%s's main network", "Bitcoin"), false},
	{0x04, 0x35, 0x87, 0xcf}: {"tpub", fault.NewMessage("a test network"), false},
	{0x04, 0x4a, 0x52, 0x62}: {"upub", fault.NewMessage("%s's test networks", "Bitcoin"), false},
	{0x04, 0x5f, 0x1c, 0xf6}: {"vpub", fault.NewMessage("%s's test networks", "Bitcoin"), false},
	{0x04, 0x20, 0xbd, 0x3a}: {"spub", fault.NewMessage("Bitcoin's simulation network"), false},
	{0x02, 0xfa, 0xca, 0xfd}: {"dgub", fault.NewMessage("%s's main network", "Dogecoin"), false},
	{0x02, 0x95, 0xb4, 0x3f}: {"Ypub", several, false},
	{0x02, 0xaa, 0x7e, 0xd3}: {"Zpub", several, false},
	{0x02, 0x42, 0x89, 0xef}: {"Upub", several, false},
	{0x02, 0x57, 0x54, 0x83}: {"Vpub", several, false},
	{0x01, 0x9d, 0xa4, 0x62}: {"Ltub", fault.NewMessage("%s's main network", "Litecoin"), false},
	{0x01, 0xb2, 0x6e, 0xf6}: {"Mtub", fault.NewMessage("%s's main network", "Litecoin"), false},

	{0x04, 0x88, 0xad, 0xe4}: {"xprv", fault.Message{}, true},
	{0x04, 0x9d, 0x78, 0x78}: {"yprv", fault.Message{}, true},
	{0x04, 0xb2, 0x43, 0x0c}: {"zprv", fault.Message{}, true},
	{0x04, 0x35, 0x83, 0x94}: {"tprv", fault.Message{}, true},
	{0x04, 0x4a, 0x4e, 0x28}: {"uprv", fault.Message{}, true},
	{0x04, 0x5f, 0x18, 0xbc}: {"vprv", fault.Message{}, true},
	{0x04, 0x20, 0xb9, 0x00}: {"sprv", fault.Message{}, true},
	{0x02, 0xfa, 0xc3, 0x98}: {"dgpv", fault.Message{}, true},
	{0x02, 0x95, 0xb0, 0x05}: {"Yprv", fault.Message{}, true},
	{0x02, 0xaa, 0x7a, 0x99}: {"Zprv", fault.Message{}, true},
	{0x02, 0x42, 0x85, 0xb5}: {"Uprv", fault.Message{}, true},
	{0x02, 0x57, 0x50, 0x48}: {"Vprv", fault.Message{}, true},
	{0x01, 0x9d, 0x9c, 0xfe}: {"Ltpv", fault.Message{}, true},
	{0x01, 0xb2, 0x67, 0x92}: {"Mtpv", fault.Message{}, true},
}

var several = fault.NewMessage("a wallet with several signers")

// parseExtended reads an extended public key of the network, and returns its prefix
// and the script that the prefix names ("" for none).
func parseExtended(text string, p Net) (key *hdkeychain.ExtendedKey, prefix, script string, err error) {
	key, err = hdkeychain.NewKeyFromString(text)
	switch {
	case errors.Is(err, hdkeychain.ErrInvalidKeyLen):
		return nil, "", "", errKey(
			"This is no account's public key. Enter the one that your wallet shows for an account: %s, or %s.",
			listPrefixes(p), describeAccepted(p))
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
		return nil, "", "", errKey("This key is of a kind that is not known here. Needed is a key of %s: %s.",
			networkName(p), listPrefixes(p))
	case !fits:
		return nil, "", "", errKey("What begins with %s is a key of %s. Needed is a key of %s: %s.", known.prefix,
			known.of, networkName(p), listPrefixes(p))
	}
	return key, known.prefix, script, nil
}

// listPrefixes lists the prefixes that the network's keys have: "xpub, ypub or zpub".
func listPrefixes(p Net) fault.Message {
	var prefixes []string
	for version := range p.KeyVersions {
		prefixes = append(prefixes, formats[version].prefix)
	}
	slices.Sort(prefixes)
	if last := len(prefixes) - 1; last > 0 {
		return fault.NewMessage("%s or %s", strings.Join(prefixes[:last], ", "), prefixes[last])
	}
	return fault.Verbatim(strings.Join(prefixes, ""))
}

// networkName is what sentences call a network.
func networkName(p Net) fault.Message {
	label := p.Coin.Info().Network
	if n, ok := money.FindTronNetwork(string(p.Network())); ok {
		label = n.Label
	}
	switch {
	case !p.Test:
		return fault.NewMessage("%s's main network", label)
	case p.Chain == money.Tron:
		return fault.Verbatim(label) // it has the name
	}
	return fault.NewMessage("%s's test network %s", label, p.Name)
}
