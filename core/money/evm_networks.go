package money

import "time"

// MainNetwork is the name of each chain's main network.
const MainNetwork = "mainnet"

// Sources of several entries.
const (
	chainList    = "https://github.com/wevm/viem/tree/main/src/chains/definitions (viem 2.57.20)"
	tokenList    = "https://tokens.uniswap.org (version 22.21.0 of 2026-09-23)"
	tetherPage   = "https://tether.to/en/supported-protocols"
	finalityList = "https://wormhole.com/docs/products/reference/consistency-levels"
)

// tetherSymbols are what contracts of USDT call it: Tether's own, and USDT0, which is USDT moved to another
// network (https://docs.usdt0.to).
var tetherSymbols = []string{"USDT", "USD₮", "USDT0", "USD₮0"}

// describeTether returns USDT as a contract on a network.
func describeTether(contract string, decimals int) EVMToken {
	return EVMToken{Name: string(USDT), Contract: contract, Decimals: decimals, Symbols: tetherSymbols}
}

// evmNetworks is the registry. On test networks the operator names the contract that stands for USDT, which
// must have as many decimals as USDT on the main network.
var evmNetworks = []EVMNetwork{
	ethereumMainnet,
	{Chain: Ethereum, Name: "sepolia", ChainID: 11155111, Label: "Ethereum sepolia", Test: true, Native: ETH,
		Genesis: "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9",
		Token:   EVMToken{Decimals: 6}, BlockTime: 12 * time.Second, Finality: ethereumMainnet.Finality,
		Explorer: "https://sepolia.etherscan.io/tx/",
		Sources:  []string{chainList, "https://github.com/ethereum/go-ethereum/blob/master/params/config.go"},
		Checked:  "2026-11-27"},
	{Chain: BSC, Name: MainNetwork, ChainID: 56, Label: "BNB Smart Chain", Standard: "BEP-20", Native: "BNB",
		Genesis: "0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b",
		Token:   describeTether("0x55d398326f99059fF775485246999027B3197955", 18),
		Others: []EVMToken{{Name: "USDC", Contract: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", Decimals: 18},
			{Name: "DAI", Contract: "0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3", Decimals: 18}},
		BlockTime: 450 * time.Millisecond, Finality: Finality{Depth: 40, Usual: 5 * time.Second},
		Fees: bscFees, Explorer: "https://bscscan.com/tx/",
		Sources: []string{chainList, tokenList, finalityList, "https://docs.bnbchain.org/llms.txt",
			"https://github.com/bnb-chain/BEPs/blob/master/BEPs/BEP126.md",
			"https://github.com/bnb-chain/bsc/blob/master/params/config.go"},
		Checked: "2026-11-27"},
	{Chain: BSC, Name: "testnet", ChainID: 97, Label: "BNB Smart Chain testnet", Test: true, Native: "BNB",
		Token: EVMToken{Decimals: 18}, BlockTime: 450 * time.Millisecond,
		Finality: Finality{Depth: 40, Usual: 5 * time.Second}, Explorer: "https://testnet.bscscan.com/tx/",
		Sources: []string{chainList}, Checked: "2026-11-27"},
	{Chain: Polygon, Name: MainNetwork, ChainID: 137, Label: "Polygon PoS", Native: "POL",
		Genesis: "0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b",
		Token:   describeTether("0xc2132D05D31c914a87C6611C10748AEb04B58e8F", 6),
		Others: []EVMToken{{Name: "USDC", Contract: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", Decimals: 6},
			{Name: "DAI", Contract: "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063", Decimals: 18}},
		BlockTime: 2 * time.Second, Finality: Finality{Depth: 64, Usual: time.Minute},
		Fees: polygonFees, Explorer: "https://polygonscan.com/tx/",
		Sources: []string{chainList, tokenList, finalityList,
			"https://github.com/maticnetwork/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-11.md",
			"https://github.com/0xPolygon/bor/blob/develop/params/config.go"},
		Checked: "2026-11-27"},
	{Chain: Polygon, Name: "amoy", ChainID: 80002, Label: "Polygon amoy", Test: true, Native: "POL",
		Token: EVMToken{Decimals: 6}, BlockTime: 2 * time.Second, Finality: Finality{Depth: 64, Usual: time.Minute},
		Explorer: "https://amoy.polygonscan.com/tx/", Sources: []string{chainList}, Checked: "2026-11-27"},
	{Chain: Arbitrum, Name: MainNetwork, ChainID: 42161, Label: "Arbitrum One", Native: ETH,
		Genesis: "0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442",
		Token:   describeTether("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6),
		Others: []EVMToken{{Name: "USDC", Contract: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", Decimals: 6},
			{Name: "DAI", Contract: "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", Decimals: 18}},
		BlockTime: 250 * time.Millisecond, Finality: Finality{Depth: 120, Usual: 18 * time.Minute}, CountsL1Gas: true,
		Fees: arbitrumFees, Explorer: "https://arbiscan.io/tx/",
		Sources: []string{chainList, tokenList, finalityList,
			"https://docs.arbitrum.io/how-arbitrum-works/reference/finality-and-reorgs",
			"https://github.com/graphprotocol/networks-registry"},
		Checked: "2026-11-27"},
	{Chain: Arbitrum, Name: "sepolia", ChainID: 421614, Label: "Arbitrum sepolia", Test: true, Native: ETH,
		Token: EVMToken{Decimals: 6}, BlockTime: 250 * time.Millisecond,
		Finality: Finality{Depth: 120, Usual: 18 * time.Minute}, CountsL1Gas: true,
		Explorer: "https://sepolia.arbiscan.io/tx/", Sources: []string{chainList}, Checked: "2026-11-27"},
	{Chain: Celo, Name: MainNetwork, ChainID: 42220, Label: "Celo", Native: "CELO",
		Genesis: "0x19ea3339d3c8cda97235bc8293240d5b9dadcdfbb5d4b0b90ee731cac1bd11c3",
		Token:   describeTether("0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", 6),
		Others: []EVMToken{
			{Name: "USDC", Contract: "0xcebA9300f2b948710d2653dD7B07f33A8B32118C", Decimals: 6}},
		BlockTime: time.Second, Finality: Finality{Depth: 60, Usual: 18 * time.Minute},
		Fees: celoFees, Explorer: "https://celoscan.io/tx/",
		Sources: []string{chainList, tokenList, tetherPage, "https://docs.celo.org/network",
			"https://docs.celo.org/specs/finality", "https://docs.celo.org/tooling/contracts/stablecoin-contracts"},
		Checked: "2026-11-27"},
	{Chain: Celo, Name: "sepolia", ChainID: 11142220, Label: "Celo sepolia", Test: true, Native: "CELO",
		Token: EVMToken{Decimals: 6}, BlockTime: time.Second, Finality: Finality{Depth: 60, Usual: 18 * time.Minute},
		Explorer: "https://celo-sepolia.blockscout.com/tx/",
		Sources:  []string{chainList, "https://docs.celo.org/network"}, Checked: "2026-11-27"},
	{Chain: Base, Name: MainNetwork, ChainID: 8453, Label: "Base", Native: ETH,
		Genesis: "0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd",
		Others: []EVMToken{{Name: "USDC", Contract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Decimals: 6},
			{Name: "DAI", Contract: "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", Decimals: 18}},
		BlockTime: 2 * time.Second, Finality: Finality{Depth: 30, Usual: 18 * time.Minute}, FeeOracle: gasPriceOracle,
		Fees: baseFees, Explorer: "https://basescan.org/tx/",
		Sources: []string{chainList, tokenList, finalityList,
			"https://docs.base.org/base-chain/specs/upgrades/fjord/predeploys",
			"https://docs.base.org/base-chain/network-information/transaction-finality",
			"https://github.com/paradigmxyz/reth/blob/main/crates/optimism/chainspec/src/base.rs"},
		Checked: "2026-11-27"},
	{Chain: Base, Name: "sepolia", ChainID: 84532, Label: "Base sepolia", Test: true, Native: ETH,
		BlockTime: 2 * time.Second, Finality: Finality{Depth: 30, Usual: 18 * time.Minute}, FeeOracle: gasPriceOracle,
		Explorer: "https://sepolia.basescan.org/tx/", Sources: []string{chainList}, Checked: "2026-11-27"},
}

// gasPriceOracle is where every network of the OP Stack has its contract about fees.
const gasPriceOracle = "0x420000000000000000000000000000000000000F"

// ethereumMainnet stands by itself because the names of ether and USDT are made from it.
var ethereumMainnet = EVMNetwork{Chain: Ethereum, Name: MainNetwork, ChainID: 1, Label: "Ethereum", Standard: "ERC-20",
	Native:  ETH,
	Genesis: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
	Token:   describeTether("0xdAC17F958D2ee523a2206206994597C13D831ec7", 6),
	Others: []EVMToken{{Name: "USDC", Contract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", Decimals: 6},
		{Name: "DAI", Contract: "0x6B175474E89094C44Da98b954EedeAC495271d0F", Decimals: 18}},
	BlockTime: 12 * time.Second, Finality: Finality{Depth: 12, Usual: 13 * time.Minute},
	Fees: ethereumFees, Explorer: "https://etherscan.io/tx/",
	Sources: []string{chainList, tokenList, tetherPage, finalityList,
		"https://github.com/ethereum/go-ethereum/blob/master/params/config.go"},
	Checked: "2026-11-27"}
