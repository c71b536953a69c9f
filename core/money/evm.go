package money

import (
	"slices"
	"strings"
	"time"
)

// EVMNetwork holds the facts of one network of Ethereum's kind. The adapter, the settings, the pages,
// the docs and the tests read them from here, so that another network is one more entry.
type EVMNetwork struct {
	// Chain is the network's code in settings and in the API: "bsc".
	Chain Chain
	// Name tells the main network of the code from its test networks: "mainnet", "sepolia".
	Name string
	// ChainID identifies the network to nodes and wallets (EIP-155).
	ChainID int64
	// Label is the name of the network in wallets and exchanges, Standard the name of its tokens; "" for
	// no name of its own.
	Label, Standard string
	// Test says that the network's coins have no value, so that it serves the test domain.
	Test bool
	// Genesis is the hash of the first block; "" where the chain id alone has to do.
	Genesis string
	// Native is the symbol of the coin that pays the network's fees. Where it is ETH, ether is paid with
	// there, and ether that contracts send has to be found by traces or balances.
	Native Coin
	// Token is USDT; its contract is "" where none is known.
	Token EVMToken
	// Others are tokens that pay nothing here. A transfer of one to a watched address is reported.
	Others []EVMToken
	// BlockTime is the usual time between two blocks.
	BlockTime time.Duration
	// Finality says when a payment is final.
	Finality Finality
	// CountsL1Gas says that gas includes the cost of another network, so that a transfer of ether takes
	// more of it than Ethereum's 21,000.
	CountsL1Gas bool
	// FeeOracle is the contract that says what a transaction takes besides its gas, for the cost of another network
	// (OP Stack); "" where it takes nothing.
	FeeOracle string
	// Fees are what a transfer usually costs the customer; test networks have none.
	Fees UsualFees
	// Explorer is where a transaction can be looked up, by its hash at the end.
	Explorer string
	// Sources are the public pages and packages that say so, as of the date Checked.
	Sources []string
	Checked string
}

// EVMToken is a token's contract on one network.
type EVMToken struct {
	Name string
	// Contract is its address with the checksum of EIP-55.
	Contract string
	// Decimals is how many of the token's smallest units make one: 10 to that power.
	Decimals int
	// Symbols are what the contract may answer to symbol(); empty where that isn't compared.
	Symbols []string
}

// Finality is when a payment on a network is final: at a depth for small payments; for payments above
// 100 USD the block must also be at or below the one that nodes tag as finalized.
type Finality struct {
	Depth int
	// Usual is how long a block usually takes until it is finalized.
	Usual time.Duration
}

// EVMNetworks lists the registry.
func EVMNetworks() []EVMNetwork { return append([]EVMNetwork(nil), evmNetworks...) }

// FindEVMNetwork returns the network with a code and a name, such as "bsc" and "mainnet".
func FindEVMNetwork(c Chain, name string) (EVMNetwork, bool) {
	for _, n := range evmNetworks {
		if n.Chain == c && n.Name == name {
			return n, true
		}
	}
	return EVMNetwork{}, false
}

// Network is the network's name among all followed ones: "bsc-mainnet".
func (n EVMNetwork) Network() string { return string(n.Chain) + "-" + n.Name }

// carriesCoin reports whether payments in a coin are made on the network.
func (n EVMNetwork) carriesCoin(c Coin) bool {
	return c == USDT && n.Token.Contract != "" || c == n.Native
}

// TokenLabel is what wallets and exchanges call the network when a token is sent: "BNB Smart Chain (BEP-20)".
func (n EVMNetwork) TokenLabel() string { return labelToken(n.Label, n.Standard) }

// labelToken returns the label of a network with the name of its tokens, if they have one.
func labelToken(label, standard string) string {
	if standard == "" {
		return label
	}
	return label + " (" + standard + ")"
}

// IsEVM reports whether the chain's networks are of Ethereum's kind: they have its addresses.
func (c Chain) IsEVM() bool {
	_, ok := FindEVMNetwork(c, MainNetwork)
	return ok
}

// FindNetwork returns the network of Ethereum's kind that is followed by a name such as "bsc-mainnet".
func FindNetwork(network string) (EVMNetwork, bool) {
	code, name, _ := strings.Cut(network, "-")
	return FindEVMNetwork(Chain(code), name)
}

// ListFeeCoins lists the coins that pay the fees of networks and that nothing is paid with, such as BNB.
func ListFeeCoins() (list []Coin) {
	for _, n := range evmNetworks {
		if n.Native.Info().Coin == "" && !slices.Contains(list, n.Native) {
			list = append(list, n.Native)
		}
	}
	return append(list, TRX)
}
