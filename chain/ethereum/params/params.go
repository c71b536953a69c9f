// Package params makes the parameters of the networks of Ethereum's kind from their registry in core/money,
// and holds the format of their addresses. It contains only pure functions, which the chain adapter and the
// wallet share.
package params

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// Params are the parameters of one network: the facts of the registry, and what the adapter adds. Token and Others hide
// the registry's fields of these names and hold the same tokens, with parsed addresses. BlockTime and Finality are of
// public networks.
type Params struct {
	money.EVMNetwork
	// Private says that anyone can start such a network. It has no known genesis block, and it
	// produces blocks on demand.
	Private bool
	// Stale is the age of the tip from which on a node counts as stalled; 0 means no limit.
	Stale time.Duration
	// Interval is how often a node is polled if no message is pushed.
	Interval time.Duration
	// Token is the contract of USDT; the zero address where there is none. It has TokenDecimals decimals.
	Token         Address
	TokenDecimals int
	// TokenSymbols are what the contract may call itself; empty means that it isn't compared.
	TokenSymbols []string
	// Others are tokens that pay nothing here. A transfer of one to a watched address is reported, so
	// that it isn't lost.
	Others []OtherToken
	// KeyVersions are the version bytes of the network's extended public keys. The values name a
	// script, which is always "" here because there is one kind of address.
	KeyVersions map[[4]byte]string
}

// HasToken reports whether USDT is on the network.
func (p Params) HasToken() bool { return p.Token != Address{} }

// TokenContract returns the contract of USDT; "" where there is none.
func (p Params) TokenContract() string {
	if !p.HasToken() {
		return ""
	}
	return p.Token.String()
}

// FromTokenUnits converts an amount of USDT from the contract's smallest unit to the one that it has here on
// every network, the millionth. What is less than a millionth is left out.
func (p Params) FromTokenUnits(amount money.Amount) money.Amount {
	return amount.MulDiv(1, p.tokenScale())
}

// ToTokenUnits is the inverse of FromTokenUnits.
func (p Params) ToTokenUnits(amount money.Amount) money.Amount {
	return amount.MulDiv(p.tokenScale(), 1)
}

// tokenScale is how many of the contract's smallest units make a millionth of a USDT.
func (p Params) tokenScale() int64 {
	scale := int64(1)
	for range p.TokenDecimals - money.USDT.Info().Unit {
		scale *= 10
	}
	return scale
}

// OtherToken is a token beside USDT, with its number of decimals.
type OtherToken struct {
	Name     string
	Contract Address
	Decimals int
}

// Network returns the network's name among all chains: "ethereum-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(p.Chain) + "-" + p.Name) }

// customPrefix begins the names of networks that are known only by their chain id.
const customPrefix = "chain-"

const (
	// maxTipAge is how old the last block of a public network may be.
	maxTipAge = 5 * time.Minute
	// minInterval is how often a node is polled at most, however fast the network's blocks come.
	minInterval = time.Second
)

// Version bytes of extended public keys. Wallets write Ethereum accounts as xpub on every network,
// and some write tpub on test networks.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: ""}
	testKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x35, 0x87, 0xcf}: ""}
)

// newParams returns the parameters of a network of the registry.
func newParams(n money.EVMNetwork) Params {
	p := Params{EVMNetwork: n, Stale: maxTipAge, Interval: max(n.BlockTime/3, minInterval),
		TokenDecimals: n.Token.Decimals, TokenSymbols: n.Token.Symbols, KeyVersions: mainKeys}
	if n.Test {
		p.KeyVersions = testKeys
	}
	if n.Token.Contract != "" {
		p.Token = mustParseAddress(n.Token.Contract)
	}
	for _, other := range n.Others {
		p.Others = append(p.Others, OtherToken{other.Name, mustParseAddress(other.Contract), other.Decimals})
	}
	return p
}

// Lookup finds a network by its chain and its name in the configuration: mainnet, a test network's name, or
// chain-N for the network with chain id N. Networks named chain-N serve the test domain, because the
// value of their coins is unknown. Token is the contract of USDT there; "" means the known one, which only
// main networks have.
func Lookup(c money.Chain, name, token string) (Params, error) {
	p, ok := Find(c, name)
	if !ok {
		return Params{}, fmt.Errorf("it is %s, or chain-N for another network whose chain id is N", listNames(c))
	}
	if token != "" {
		contract, err := ParseAddress(token)
		switch {
		case p.TokenDecimals == 0:
			return Params{}, errors.New("USDT is not paid with there")
		case err != nil:
			return Params{}, errors.New("the contract of USDT is no address")
		case !p.Test && contract != p.Token:
			return Params{}, errors.New("the contract of USDT is not the one that Tether runs on the main network")
		}
		p.Token = contract
	}
	if !p.HasToken() && p.TokenDecimals > 0 {
		return Params{}, errors.New("on a test network the contract that stands for USDT must be named")
	}
	return p, nil
}

// listNames lists the names of a chain's networks.
func listNames(c money.Chain) string {
	var names []string
	for _, n := range money.EVMNetworks() {
		if n.Chain == c {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Find returns the network of a chain with a name. Its token is empty if it is not known.
func Find(c money.Chain, name string) (Params, bool) {
	if n, ok := money.FindEVMNetwork(c, name); ok {
		return newParams(n), true
	}
	digits, ok := strings.CutPrefix(name, customPrefix)
	id, err := strconv.ParseInt(digits, 10, 53)
	if !ok || err != nil || id < 1 || strconv.FormatInt(id, 10) != digits {
		return Params{}, false
	}
	for _, n := range money.EVMNetworks() {
		if n.ChainID == id {
			return Params{}, false // the network has a name of its own
		}
	}
	main, ok := money.FindEVMNetwork(c, money.MainNetwork)
	return Params{EVMNetwork: money.EVMNetwork{Chain: c, Name: name, ChainID: id, Test: true, Native: main.Native,
		CountsL1Gas: true}, Private: true, Interval: time.Second, TokenDecimals: main.Token.Decimals,
		KeyVersions: testKeys}, ok
}
