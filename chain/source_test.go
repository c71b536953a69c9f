package chain_test

import (
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// TestKeptBlocks checks for each network of the registry that more blocks are kept than come until one is final, with
// time to spare.
func TestKeptBlocks(t *testing.T) {
	for network, want := range map[chain.Network]int64{
		"bitcoin-mainnet": 2_000, "ethereum-mainnet": 2_000, "polygon-mainnet": 2_000, "polygon-chain-31338": 2_000,
		"arbitrum-mainnet": 14_400, "sandbox-arbitrum": 14_400, "bsc-mainnet": 8_000, "celo-mainnet": 3_600,
	} {
		if got := network.KeptBlocks(); got != want {
			t.Errorf("%s keeps %d blocks, want %d", network, got, want)
		}
	}
	for _, code := range money.ListNetworks() {
		facts, known := money.FindNetworkFacts(code)
		kept := time.Duration(chain.Sandbox(code).KeptBlocks()) * facts.BlockTime
		if known && kept < 2*facts.Finality.Usual {
			t.Errorf("%s keeps blocks for %s, want twice the %s until they are final", code, kept, facts.Finality.Usual)
		}
	}
}
