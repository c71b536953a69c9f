package money

import (
	"strings"
	"time"
)

// Tron is the code of Tron's networks.
const Tron Chain = "tron"

// TRX is the coin that pays Tron's fees; nothing is paid with it here.
const TRX Coin = "TRX"

// TronNetwork holds the facts of one network of Tron, as EVMNetwork does for networks of Ethereum's kind.
type TronNetwork struct {
	// Name tells the main network from the test networks: "mainnet", "nile".
	Name string
	// Label is the name of the network in wallets and exchanges, Standard the name of its tokens.
	Label, Standard string
	// Test says that the network's coins have no value, so that it serves the test domain.
	Test bool
	// Genesis is the id of the first block.
	Genesis string
	// Token is USDT. Its contract is in base58check; on test networks it is the one that wallets and faucets
	// use, and the operator may name another.
	Token EVMToken
	// BlockTime is the time between two blocks.
	BlockTime time.Duration
	// Finality says when a payment is final. The solidified block is the one that the network has finalized.
	Finality Finality
	// Fees are what a transfer usually costs the customer; test networks have none.
	Fees UsualFees
	// Explorer is where a transaction can be looked up, by its id at the end.
	Explorer string
	// Sources are the public pages that say so, as of the date Checked.
	Sources []string
	Checked string
}

// Sources of several entries.
const (
	tronWebNetworks = "https://github.com/tronprotocol/tronweb (6.5.1), https://developers.tron.network/docs/networks"
	tronGenesis     = "https://developers.tron.network/reference-link/getblockbynum (block 0)"
	tronFinality    = "https://developers.tron.network/reference/solidity-node-http-api-overview"
)

// tronFinal is when a payment on each network of Tron is final. 19 of the 27 super representatives have built
// on a block when it is solidified, which takes about a minute.
var tronFinal = Finality{Depth: 19, Usual: time.Minute}

// tronFees are by the energy that a transfer of USDT burns, at 100 sun each since 29 August 2025: 130,285 to an
// address without USDT, 64,285 to one with it. With 345 of bandwidth at 1,000 sun that is 13.4 or 6.8 TRX. The limit
// is reached at 0.37 USD for a TRX.
var tronFees = UsualFees{Token: fiveDollars,
	Sources: []string{"https://tronpoolenergy.com/blog/tron-usdt-trc20-fee (energy and bandwidth)",
		"https://tronprotocol.github.io/documentation-en/api/json-rpc/node/eth_gasPrice/ (getEnergyFee)",
		"https://gasfeesnow.com/tron (13.4 TRX, 2.02 to 4.22 USD)", "https://gaspeek.com/tron (1.88 to 3.96 USD)"},
	Checked: "2026-11-28"}

// tronNetworks is the registry of Tron's networks.
var tronNetworks = []TronNetwork{
	{Name: MainNetwork, Label: "Tron", Standard: "TRC-20",
		Genesis: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
		Token: EVMToken{Name: string(USDT), Contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Decimals: 6,
			Symbols: []string{"USDT"}},
		BlockTime: 3 * time.Second, Finality: tronFinal, Fees: tronFees, Explorer: "https://tronscan.org/#/transaction/",
		Sources: []string{tronWebNetworks, tronGenesis, tronFinality, tetherPage}, Checked: "2026-11-27"},
	{Name: "nile", Label: "Tron nile", Standard: "TRC-20", Test: true,
		Genesis:   "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc",
		Token:     EVMToken{Name: string(USDT), Contract: "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf", Decimals: 6},
		BlockTime: 3 * time.Second, Finality: tronFinal, Explorer: "https://nile.tronscan.org/#/transaction/",
		Sources: []string{tronWebNetworks, tronGenesis, tronFinality, "https://nileex.io"}, Checked: "2026-11-27"},
	{Name: "shasta", Label: "Tron shasta", Standard: "TRC-20", Test: true,
		Genesis:   "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e",
		Token:     EVMToken{Name: string(USDT), Contract: "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs", Decimals: 6},
		BlockTime: 3 * time.Second, Finality: tronFinal, Explorer: "https://shasta.tronscan.org/#/transaction/",
		Sources: []string{tronWebNetworks, tronGenesis, tronFinality,
			"https://developers.tron.network/docs/trc20-contract-interaction"}, Checked: "2026-11-27"},
}

// TronNetworks lists the networks of Tron.
func TronNetworks() []TronNetwork { return append([]TronNetwork(nil), tronNetworks...) }

// FindTronNetwork returns the network of Tron that is followed by a name such as "tron-mainnet".
func FindTronNetwork(network string) (TronNetwork, bool) {
	code, name, _ := strings.Cut(network, "-")
	for _, n := range tronNetworks {
		if Chain(code) == Tron && n.Name == name {
			return n, true
		}
	}
	return TronNetwork{}, false
}

// Network is the network's name among all followed ones: "tron-mainnet".
func (n TronNetwork) Network() string { return string(Tron) + "-" + n.Name }
