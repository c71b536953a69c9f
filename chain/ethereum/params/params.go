// Package params holds what tells one network of Ethereum from another, and how
// its addresses are written. It is data and pure functions, shared by the chain
// adapter and by the wallet, which makes addresses.
package params

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// Params are one network's.
type Params struct {
	Name string
	// ChainID is what its nodes say of themselves, and what wallets tell networks apart by.
	ChainID int64
	// Test tells that its ether is worth nothing, so that it serves the test domain.
	Test bool
	// Private tells that anybody can start such a network: it has no known genesis
	// block, and blocks come when somebody asks for them.
	Private bool
	// Genesis is the hash of the first block; "" where it isn't known.
	Genesis string
	// Stale is the age of a tip from which on a node is taken to hang; 0 means none is.
	Stale time.Duration
	// Interval is how often a node is asked for news that nothing pushes.
	Interval time.Duration
	// Token is the contract of USDT. It has TokenDecimals decimals.
	Token Address
	// KeyVersions are the version bytes of extended public keys that belong to the
	// network, with the script that they say ("": none; there is one kind of address).
	KeyVersions map[[4]byte]string
}

// TokenDecimals are those of USDT's smallest unit, as the product counts it. A
// contract that has others can't be followed.
const TokenDecimals = 6

// Network is the network's name among all chains: "ethereum-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(money.Ethereum) + "-" + p.Name) }

// customPrefix begins the names of networks that are known by their chain id only.
const customPrefix = "chain-"

// slotTime is how often the public networks have a block.
const slotTime = 12 * time.Second

// Version bytes of extended public keys: wallets write accounts of Ethereum as
// xpub on every network, and some as tpub on test networks.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: ""}
	testKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x35, 0x87, 0xcf}: ""}
)

var networks = []Params{
	{Name: "mainnet", ChainID: 1, Genesis: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
		Stale: 5 * time.Minute, Interval: slotTime / 3, KeyVersions: mainKeys, Token: mustParseAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")},
	{Name: "sepolia", ChainID: 11155111, Test: true, Genesis: "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9",
		Stale: 5 * time.Minute, Interval: slotTime / 3, KeyVersions: testKeys},
}

// Lookup finds a network by its name in the configuration: mainnet, sepolia, or
// chain-N for another one whose chain id is N. Those serve the test domain, as
// nobody knows what their coins are worth. Token is the contract of USDT there, ""
// for the one that is known: only the main network has one.
func Lookup(name, token string) (Params, error) {
	p, ok := findNetwork(name)
	if !ok {
		return Params{}, errors.New("it is mainnet, sepolia, or chain-N for another network whose chain id is N")
	}
	if token != "" {
		contract, err := ParseAddress(token)
		switch {
		case err != nil:
			return Params{}, errors.New("the contract of USDT is no address")
		case !p.Test && contract != p.Token:
			return Params{}, errors.New("the contract of USDT is not the one that Tether runs on the main network")
		}
		p.Token = contract
	}
	if p.Token == (Address{}) {
		return Params{}, errors.New("on a test network the contract that stands for USDT must be named")
	}
	return p, nil
}

// Find is the network with a name, without a token where that is not known.
func Find(name string) (Params, bool) { return findNetwork(name) }

func findNetwork(name string) (Params, bool) {
	for _, p := range networks {
		if p.Name == name {
			return p, true
		}
	}
	digits, ok := strings.CutPrefix(name, customPrefix)
	id, err := strconv.ParseInt(digits, 10, 53)
	if !ok || err != nil || id < 1 || strconv.FormatInt(id, 10) != digits {
		return Params{}, false
	}
	for _, p := range networks {
		if p.ChainID == id {
			return Params{}, false // it has a name
		}
	}
	return Params{Name: name, ChainID: id, Test: true, Private: true, Interval: time.Second, KeyVersions: testKeys}, true
}
