package money

import "github.com/shopspring/decimal"

// UsualFees are limits in USD under which the fee of a transfer usually stays, for customers who choose a network.
// They are coarse so that they stay true for a year: docs/wallets.md says how each is calculated. The wallet shows
// the real fee.
type UsualFees struct {
	// Token is for a transfer of USDT, Native for one of the coin that pays the network's fees. Zero says that no
	// payment is made in it there.
	Token, Native decimal.Decimal
	// Sources are the public pages with the fees, as of the date Checked.
	Sources []string
	Checked string
}

// Sources of several fees.
const (
	transferGas = "https://ethereum.stackexchange.com/questions/149423 (gas of a transfer of USDT: 41,000 to 63,000)"
	feeList     = "https://api.gasfeepredictor.com/stablecoin-transfer-fees (by gas, on each network)"
)

// The limits: a network's fee for a transfer is at most a few dollars, or a fraction of one.
var (
	tenCents    = decimal.New(10, -2)
	oneDollar   = decimal.New(1, 0)
	twoDollars  = decimal.New(2, 0)
	fiveDollars = decimal.New(5, 0)
)

// Fees of Ethereum's kind are by gas: 21,000 for a transfer of ether, and up to 65,000 for one of USDT. Each comment
// says at which prices of gas and of the coin a limit is reached.
var (
	// USDT at 10 gwei and 3,000 USD, ether at 15 gwei. Gas cost 14 gwei on average in January 2025, and 0.5 a year
	// later.
	ethereumFees = UsualFees{Token: twoDollars, Native: oneDollar, Sources: []string{transferGas, feeList,
		"https://er20fees.org/what-are-erc20-fees.html (65,000 gas at 10 gwei and 3,000 USD are 1.95 USD)",
		"https://web3.gate.com/blog/16186/eth-gas-fee-revolution-uncovering-whats-behind-ethereums-low-cost-" +
			"transactions-in-2026 (averages of gas)",
		"https://gaspeek.com/ethereum (0.03 USD in March 2026)"}, Checked: "2026-11-28"}
	// 1 gwei and 1,500 USD. Validators take 0.05 gwei.
	bscFees = UsualFees{Token: tenCents, Sources: []string{transferGas,
		"https://rfq.news/binancecoin/bnb-smart-chain-validators-slash-minimum-gas-price-to-0-05-gwei",
		"https://eco.com/support/en/articles/15247716-cheapest-tether-network-2026-usdt-fees-by-chain-ranked" +
			" (0.02 USD)"}, Checked: "2026-11-28"}
	// 1,500 gwei and 1 USD. Usual are 30 to 300 gwei.
	polygonFees = UsualFees{Token: tenCents, Sources: []string{transferGas, feeList,
		"https://api.gasfeepredictor.com/polygon-gas-fee (280 gwei)",
		"https://www.pipeflare.io/fees/polygon-gas-fees (30 to 100 gwei)"}, Checked: "2026-11-28"}
	// 0.3 gwei and 3,000 USD, with 45,000 gas for Ethereum's part. The least is 0.02 gwei.
	arbitrumFees = UsualFees{Token: tenCents, Native: tenCents, Sources: []string{transferGas, feeList,
		"https://onchainanalytics.taslimi.xyz/gas-fees/arbitrum (0.02 gwei)",
		"https://arbitrum.proposals.app/8f5bab51-aaad-4f4f-a062-62ac72de4dcf"}, Checked: "2026-11-28"}
	// 500 gwei and 1.70 USD, with 50,000 gas for a fee that is paid in USDT. The network's least price of gas is meant
	// to keep usual fees under 0.01 USD.
	celoFees = UsualFees{Token: tenCents, Sources: []string{transferGas,
		"https://docs.celo.org/specs/transaction-fees (under 0.01 USD)",
		"https://docs.celo.org/developer/fee-currency (50,000 gas)"}, Checked: "2026-11-28"}
	// 1.5 gwei and 3,000 USD. The least is 0.002 gwei, and Ethereum's part is added.
	baseFees = UsualFees{Native: tenCents, Sources: []string{feeList,
		"https://docs.base.org/base-chain/network-information/network-fees",
		"https://docs.base.org/base-chain/network-information/configuration-changelog (0.002 gwei)"},
		Checked: "2026-11-28"}
)

// UsualFee returns the limit under which the fee of a transfer of a coin on the network usually stays, such as
// "0.10 USD", or "" where it isn't known.
func (f NetworkFacts) UsualFee(c Coin) string {
	limit := decimal.Zero
	switch c {
	case USDT:
		limit = f.Fees.Token
	case f.Native:
		limit = f.Fees.Native
	}
	switch {
	case limit.IsZero():
		return ""
	case limit.IsInteger():
		return limit.String() + " " + string(USD)
	}
	return FormatFiat(limit) + " " + string(USD)
}
