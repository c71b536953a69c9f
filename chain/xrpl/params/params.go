// Package params holds the parameters of the XRP Ledger's networks and the format of their
// addresses. It contains only data and pure functions. The chain adapter and the wallet share it.
package params

import (
	"strconv"
	"strings"

	"cointill/chain"
	"cointill/core/money"
)

// Params are the parameters of one network.
type Params struct {
	Name string
	// ID is the network_id of the network's servers. Servers of the main network may omit it;
	// servers of other networks must report it.
	ID uint32
	// Test says that the network's XRP has no value, so the network serves the test domain.
	Test bool
	// Least is a ledger index that this network has long passed and no other network reaches. It
	// identifies servers that report no network_id.
	Least int64
}

// Network returns the network's name among all chains: "xrp-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(money.XRPL) + "-" + p.Name) }

// customPrefix begins the names of networks that are known only by their number.
const customPrefix = "network-"

var networks = []Params{
	{Name: "mainnet", ID: 0, Least: 90_000_000},
	{Name: "testnet", ID: 1, Test: true},
	{Name: "devnet", ID: 2, Test: true},
}

// Lookup finds a network by its name in the configuration: mainnet, testnet, devnet, or network-N
// for the network with network_id N. Networks named network-N serve the test domain, because the
// value of their coins is unknown.
func Lookup(name string) (Params, bool) {
	for _, p := range networks {
		if p.Name == name {
			return p, true
		}
	}
	digits, ok := strings.CutPrefix(name, customPrefix)
	id, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || id < uint64(len(networks)) || strconv.FormatUint(id, 10) != digits {
		return Params{}, false
	}
	return Params{Name: name, ID: uint32(id), Test: true}, true
}
