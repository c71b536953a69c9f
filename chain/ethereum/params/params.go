// Package params holds the parameters of the Ethereum networks and the format of their addresses.
// It contains only data and pure functions. The chain adapter and the wallet share it.
package params

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// Params are the parameters of one network.
type Params struct {
	Name string
	// ChainID identifies the network to nodes and wallets.
	ChainID int64
	// Test says that the network's ether has no value, so the network serves the test domain.
	Test bool
	// Private says that anyone can start such a network. It has no known genesis block, and it
	// produces blocks on demand.
	Private bool
	// Genesis is the hash of the first block; "" means unknown.
	Genesis string
	// Stale is the age of the tip from which on a node counts as stalled; 0 means no limit.
	Stale time.Duration
	// Interval is how often a node is polled if no message is pushed.
	Interval time.Duration
	// Token is the contract of USDT. It has TokenDecimals decimals.
	Token Address
	// Others are tokens that pay nothing here. A transfer of one to a watched address is reported, so
	// that it isn't lost.
	Others []OtherToken
	// KeyVersions are the version bytes of the network's extended public keys. The values name a
	// script, which is always "" here because there is one kind of address.
	KeyVersions map[[4]byte]string
}

// OtherToken is a token beside USDT, with its number of decimals.
type OtherToken struct {
	Name     string
	Contract Address
	Decimals int
}

// TokenDecimals is the number of decimals of USDT. A contract with other decimals is rejected.
const TokenDecimals = 6

// Network returns the network's name among all chains: "ethereum-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(money.Ethereum) + "-" + p.Name) }

// customPrefix begins the names of networks that are known only by their chain id.
const customPrefix = "chain-"

// slotTime is the block interval of the public networks.
const slotTime = 12 * time.Second

// Version bytes of extended public keys. Wallets write Ethereum accounts as xpub on every network,
// and some write tpub on test networks.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: ""}
	testKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x35, 0x87, 0xcf}: ""}
)

var networks = []Params{
	{Name: "mainnet", ChainID: 1, Genesis: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
		Stale: 5 * time.Minute, Interval: slotTime / 3, KeyVersions: mainKeys,
		Token: mustParseAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7"),
		Others: []OtherToken{{"USDC", mustParseAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), 6},
			{"DAI", mustParseAddress("0x6B175474E89094C44Da98b954EedeAC495271d0F"), 18}}},
	{Name: "sepolia", ChainID: 11155111, Test: true,
		Genesis: "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9",
		Stale:   5 * time.Minute, Interval: slotTime / 3, KeyVersions: testKeys},
}

// Lookup finds a network by its name in the configuration: mainnet, sepolia, or chain-N for the
// network with chain id N. Networks named chain-N serve the test domain, because the value of
// their coins is unknown. Token is the contract of USDT there; "" means the known one, which only
// the main network has.
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

// Find returns the network with a name. Its token is empty if it is not known.
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
			return Params{}, false // the network has a name of its own
		}
	}
	return Params{Name: name, ChainID: id, Test: true, Private: true, Interval: time.Second,
		KeyVersions: testKeys}, true
}
