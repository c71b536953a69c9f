package bitcoin

import (
	"context"
	"math/big"
	"regexp"
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

// Where nodes have no estimate, rates are multiples of the least one that nodes relay: 1 sat/vB by the
// defaults of Bitcoin Core, and 0.01 DOGE for 1,000 bytes, which Dogecoin Core's documentation of fees
// recommends.
var (
	leastRates    = map[money.Coin]int64{money.BTC: 1_000, money.DOGE: 1_000_000}
	speedMultiple = map[chain.Speed]int64{chain.SpeedFast: 5, chain.SpeedUsual: 2, chain.SpeedSaving: 1}
)

// highestMultiple bounds an estimate, in multiples of the least rate: 5,000 sat/vB, and 50 DOGE for 1,000 bytes.
const highestMultiple = 5_000

// fetchFeeRates asks the node for the rates. A slower speed never costs more than a faster one.
func (n *server) fetchFeeRates(ctx context.Context) (feeRates, error) {
	least := leastRates[n.params.Coin]
	rates, below := feeRates{}, least*highestMultiple
	for _, speed := range chain.Speeds() {
		rate, err := n.estimateFee(ctx, speedBlocks[speed])
		if err != nil {
			return nil, err
		}
		if rate <= 0 {
			rate = least * speedMultiple[speed]
		}
		below = min(max(rate, least), below)
		rates[speed] = below
	}
	return rates, nil
}

// decimalRate is the form of a rate in JSON, with an exponent that is small enough to compute with.
var decimalRate = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,18})?([eE][-+]?[0-9]{1,2})?$`)

// parseRate parses a decimal rate, times a power of ten, and rounds it up; 0 for another text.
func parseRate(text string, factor int64) int64 {
	if !decimalRate.MatchString(text) {
		return 0
	}
	rate, _ := new(big.Rat).SetString(text) // it reads every text of the form
	rate.Mul(rate, new(big.Rat).SetInt64(factor))
	up := new(big.Int).Add(rate.Num(), new(big.Int).Sub(rate.Denom(), big.NewInt(1)))
	if up.Quo(up, rate.Denom()); !up.IsInt64() {
		return 0
	}
	return up.Int64()
}

// formatRate writes a rate as wallets show it: sat/vB, or whole Dogecoin for 1,000 bytes.
func formatRate(coin money.Coin, rate int64) string {
	if coin != money.BTC {
		return money.Units(rate).Format(coin.Info().Unit, 0) + " " + string(coin) + "/kB"
	}
	return money.Units(rate).Format(3, 0) + " sat/vB"
}

// noReason stands for the reason of a refusal without words.
const noReason = "it gives no reason"

// describeBroadcast says why a node refused a transaction, from what it said; nil where it has the
// transaction, or took it.
func describeBroadcast(said string) error {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(strings.ToLower(said), part) {
				return true
			}
		}
		return false
	}
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
