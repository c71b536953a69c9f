package display

// explorers are where the transactions of public networks can be looked up, by network.
var explorers = map[string]string{
	"bitcoin-mainnet": "https://mempool.space/tx/", "bitcoin-testnet4": "https://mempool.space/testnet4/tx/",
	"bitcoin-signet":   "https://mempool.space/signet/tx/",
	"dogecoin-mainnet": "https://dogechain.info/tx/",
	"ethereum-mainnet": "https://etherscan.io/tx/", "ethereum-sepolia": "https://sepolia.etherscan.io/tx/",
	"xrp-mainnet": "https://livenet.xrpl.org/transactions/", "xrp-testnet": "https://testnet.xrpl.org/transactions/",
}

// ExplorerURL is where a transaction can be looked up; "" on a network without a public explorer.
func ExplorerURL(network, hash string) string {
	if explorers[network] == "" {
		return ""
	}
	return explorers[network] + hash
}
