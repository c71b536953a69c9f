package money

import "time"

// NetworkFacts are what pages and rules need to know of a network that USDT or ether is paid on, of Ethereum's kind or
// Tron's.
type NetworkFacts struct {
	// Label is the name of the network in wallets and exchanges, Standard the name of its tokens; "" for none.
	Label, Standard string
	// Native is the coin that pays the network's fees.
	Native    Coin
	BlockTime time.Duration
	Finality  Finality
	// FinalByNetwork says that a small payment, too, is final only once the network says so.
	FinalByNetwork bool
	// Fees are what a transfer usually costs the customer.
	Fees UsualFees
}

// FindNetworkFacts returns the facts of the main network with a code: of Ethereum's kind, or Tron's.
func FindNetworkFacts(c Chain) (NetworkFacts, bool) {
	if n, ok := FindEVMNetwork(c, MainNetwork); ok {
		return NetworkFacts{Label: n.Label, Standard: n.Standard, Native: n.Native, BlockTime: n.BlockTime,
			Finality: n.Finality, Fees: n.Fees}, true
	}
	if n, ok := FindTronNetwork(string(c) + "-" + MainNetwork); ok {
		return NetworkFacts{Label: n.Label, Standard: n.Standard, Native: TRX, BlockTime: n.BlockTime, Finality: n.Finality,
			FinalByNetwork: true, Fees: n.Fees}, true
	}
	return NetworkFacts{}, false
}

// CoinLabel is what wallets and exchanges call the network when a coin is sent: "BNB Smart Chain (BEP-20)" for USDT.
func (f NetworkFacts) CoinLabel(c Coin) string {
	if c != USDT {
		return f.Label
	}
	return labelToken(f.Label, f.Standard)
}

// UsualTime returns how long a payment on the network usually takes until it is final.
func (f NetworkFacts) UsualTime(large bool) time.Duration {
	usual := time.Duration(f.Finality.Depth) * f.BlockTime
	if large || f.FinalByNetwork {
		usual = max(usual, f.Finality.Usual)
	}
	return usual
}
