// Package params makes the parameters of Tron's networks from their registry in core/money, and holds the format
// of addresses and of transaction ids. It contains only pure functions, which the chain adapter and the wallet
// share.
package params

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// Params are the parameters of one network: the facts of the registry, and what the adapter adds. Token hides the
// registry's field of this name and holds the same token's parsed address.
type Params struct {
	money.TronNetwork
	// Stale is the age of the tip from which on a node counts as stalled; 0 means no limit.
	Stale time.Duration
	// Interval is how often a node is polled.
	Interval time.Duration
	// Token is the contract of USDT. It has TokenDecimals decimals.
	Token         Address
	TokenDecimals int
	// TokenSymbols are what the contract may call itself; empty means that it isn't compared.
	TokenSymbols []string
	// KeyVersions are the version bytes of the network's extended public keys. The values name a script, which
	// is always "" here because there is one kind of address.
	KeyVersions map[[4]byte]string
}

const (
	// maxTipAge is how old the last block may be.
	maxTipAge = 5 * time.Minute
	// pollInterval is how often a node is asked for new blocks. With two requests for each of the 28,800 blocks of
	// a day it makes some 92,000 requests, which the 100,000 a day of TronGrid's free plan have room for.
	pollInterval = 10 * time.Second
)

// Version bytes of extended public keys. Wallets write Tron accounts as xpub on every network, and some write
// tpub on test networks.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: ""}
	testKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x35, 0x87, 0xcf}: ""}
)

// Network returns the network's name among all chains: "tron-mainnet".
func (p Params) Network() chain.Network { return chain.Network(p.TronNetwork.Network()) }

// Find returns the network with a name.
func Find(name string) (Params, bool) {
	n, ok := money.FindTronNetwork(string(money.Tron) + "-" + name)
	if !ok {
		return Params{}, false
	}
	p := Params{TronNetwork: n, Stale: maxTipAge, Interval: pollInterval, TokenDecimals: n.Token.Decimals,
		TokenSymbols: n.Token.Symbols, KeyVersions: mainKeys}
	if n.Test {
		p.KeyVersions = testKeys
	}
	contract, err := ParseAddress(n.Token.Contract)
	if err != nil {
		panic(err) // a constant of the registry
	}
	p.Token = contract
	return p, true
}

// Lookup finds a network by its name in the configuration. Token is the contract of USDT there; "" means the
// known one.
func Lookup(name, token string) (Params, error) {
	p, ok := Find(name)
	if !ok {
		return Params{}, fmt.Errorf("it is %s", listNames())
	}
	if token != "" {
		contract, err := ParseAddress(token)
		switch {
		case err != nil:
			return Params{}, fmt.Errorf("the contract of USDT: %w", err)
		case !p.Test && contract != p.Token:
			return Params{}, errors.New("the contract of USDT is not the one that Tether runs on the main network")
		}
		p.Token = contract
	}
	return p, nil
}

// listNames lists the names of the networks.
func listNames() string {
	var names []string
	for _, n := range money.TronNetworks() {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}

// NameOfGenesis returns the name of the network that begins with a block, or "".
func NameOfGenesis(id string) string {
	for _, n := range money.TronNetworks() {
		if n.Genesis == id {
			return n.Network()
		}
	}
	return ""
}
