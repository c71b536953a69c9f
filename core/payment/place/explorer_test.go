package place

import "testing"

// TestExplorerIsTheNetworks: a transaction of a public network leads to that network's explorer,
// and one of the sandbox or a private network nowhere.
func TestExplorerIsTheNetworks(t *testing.T) {
	for network, want := range map[string]string{
		"bitcoin-mainnet": "https://mempool.space/tx/ab", "ethereum-sepolia": "https://sepolia.etherscan.io/tx/ab",
		"bsc-mainnet": "https://bscscan.com/tx/ab", "tron-nile": "https://nile.tronscan.org/#/transaction/ab",
		"tron-private": "", "bsc-chain-31337": "", "bitcoin-regtest": "", "sandbox-bitcoin": "",
	} {
		if got := ExplorerURL(network, "ab"); got != want {
			t.Errorf("ExplorerURL(%s) = %q, want %q", network, got, want)
		}
	}
}
