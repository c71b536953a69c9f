// Package params holds what tells one network of the XRP Ledger from another, and
// how its addresses are written. It is data and pure functions, shared by the
// chain adapter and by whatever asks a merchant for an account.
package params

import (
	"strconv"
	"strings"

	"cointill/chain"
	"cointill/core/money"
)

// Params are one network's.
type Params struct {
	Name string
	// ID is what its servers call network_id. The main network's servers may
	// leave it out; every other network's must say it.
	ID uint32
	// Test tells that its XRP is worth nothing, so that it serves the test domain.
	Test bool
	// Least is a ledger that the network has long passed, and that no other
	// network reaches: a server without a network_id is held against it.
	Least int64
}

// Network is the network's name among all chains: "xrp-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(money.XRPL) + "-" + p.Name) }

// customPrefix begins the names of networks that are known by their number only.
const customPrefix = "network-"

var networks = []Params{
	{Name: "mainnet", ID: 0, Least: 90_000_000},
	{Name: "testnet", ID: 1, Test: true},
	{Name: "devnet", ID: 2, Test: true},
}

// Lookup finds a network by its name in the configuration: mainnet, testnet,
// devnet, or network-N for another one whose network_id is N. Those serve the
// test domain, as nobody knows what their coins are worth.
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
