package bitcoin

import (
	"context"
	"strings"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

// feeRates are fee rates by speed, in satoshi for 1,000 virtual bytes.
type feeRates map[chain.Speed]int64

// chooseRate returns the rate of a speed; the usual one for an unknown speed.
func (r feeRates) chooseRate(speed chain.Speed) int64 {
	if rate, known := r[speed]; known {
		return rate
	}
	return r[chain.SpeedUsual]
}

// speedBlocks is within how many blocks a transaction of a speed is to confirm.
var speedBlocks = map[chain.Speed]int{chain.SpeedFast: 3, chain.SpeedUsual: 36, chain.SpeedSaving: 432}

// Where nodes have no estimate and blocks no transactions, rates are multiples of the least one that nodes
// relay: 1 sat/vB by the defaults of Bitcoin Core, and 0.01 DOGE for 1,000 bytes, which Dogecoin Core's
// documentation of fees recommends.
var (
	leastRates    = map[money.Coin]int64{money.BTC: 1_000, money.DOGE: 1_000_000}
	speedMultiple = map[chain.Speed]int64{chain.SpeedFast: 5, chain.SpeedUsual: 2, chain.SpeedSaving: 1}
)

// highestMultiple bounds an estimate, in multiples of the least rate: 5,000 sat/vB, and 50 DOGE for 1,000 bytes.
const highestMultiple = 5_000

// fetchFeeRates asks the node for the rates, and takes those that the last blocks paid where it has no
// estimate. A slower speed never costs more than a faster one.
func (n *server) fetchFeeRates(ctx context.Context) (feeRates, error) {
	least := leastRates[n.params.Coin]
	var paid feeRates
	rates, below := feeRates{}, least*highestMultiple
	for _, speed := range chain.Speeds() {
		rate, err := n.estimateFee(ctx, speedBlocks[speed])
		if err != nil {
			return nil, err
		}
		if rate <= 0 && paid == nil {
			if paid, err = n.readBlockRates(ctx); err != nil {
				return nil, err
			}
		}
		if rate <= 0 {
			rate = paid[speed]
		}
		below = min(max(rate, least), below)
		rates[speed] = below
	}
	return rates, nil
}

// noReason stands for the reason of a refusal without words.
const noReason = "it gives no reason"

// describeBroadcast says why a node refused a transaction, from what it said; nil where it has the
// transaction, or took it.
func describeBroadcast(said string) error {
	has := func(words ...string) bool { return node.ContainsAny(said, words...) }
	switch {
	case said == "", has("already in block chain", "already-in-mempool", "already-known",
		"already have transaction", "transaction already exists", "outputs already in utxo set"):
		return nil
	case has("missing inputs", "missingorspent", "inputs-spent", "orphan transaction",
		"mempool-conflict", "already spent", "insufficient fee", "insufficient absolute fee"): // to replace another
		return chain.OutputsTaken
	case has("min relay fee", "mempool min fee", "insufficient priority", "under the required", "due to low fees"):
		return chain.Refusal("Its fee is too low now. Prepare the send again, and sign that transaction.")
	}
	return chain.Refusal("The node refused the transaction: " + strings.TrimRight(node.PrintableText(said), ".") + ".")
}
