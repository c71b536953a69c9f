package place

import "cointill/core/money"

// explorers are where the transactions of public networks can be looked up, by network. Those of Ethereum's
// kind and of Tron are in the registries of core/money.
var explorers = map[string]string{
	"bitcoin-mainnet": "https://mempool.space/tx/", "bitcoin-testnet4": "https://mempool.space/testnet4/tx/",
	"bitcoin-signet":   "https://mempool.space/signet/tx/",
	"dogecoin-mainnet": "https://dogechain.info/tx/",
	"xrp-mainnet":      "https://livenet.xrpl.org/transactions/", "xrp-testnet": "https://testnet.xrpl.org/transactions/",
}

// ExplorerURL is where a transaction can be looked up; "" on a network without a public explorer.
func ExplorerURL(network, hash string) string {
	explorer := explorers[network]
	if n, ok := money.FindNetwork(network); ok {
		explorer = n.Explorer
	}
	if n, ok := money.FindTronNetwork(network); ok {
		explorer = n.Explorer
	}
	if explorer == "" {
		return ""
	}
	return explorer + hash
}
