package settings

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/money"
	"cointill/models"
)

// FinalRule is what makes a confirmation final.
type FinalRule struct {
	Depth       int
	NetworkSays bool
}

// largeUSD is the value above which a payment waits for more (contract section 4).
var largeUSD = decimal.NewFromInt(100)

// FindFinalRule returns when a payment or send of a value in USD is final, by the depth that a business
// wants for the coin.
func FindFinalRule(depth Depth, coin money.Coin, usd decimal.Decimal) FinalRule {
	return depth.ruleOf(coin, usd.GreaterThan(largeUSD))
}

func (d Depth) ruleOf(coin money.Coin, large bool) FinalRule {
	if !large {
		return FinalRule{Depth: d.Small}
	}
	return FinalRule{Depth: d.Large, NetworkSays: coin.Info().Chain.IsEVM()}
}

// On returns the rule for a network: some have a depth of their own, below which no business goes. On Tron every
// payment waits until its block is solidified.
func (r FinalRule) On(network string) FinalRule {
	if facts, known := money.FindNetworkFacts(chain.Network(network).Code()); known {
		r.Depth = max(r.Depth, facts.Finality.Depth)
		r.NetworkSays = r.NetworkSays || facts.FinalByNetwork
	}
	return r
}

// RuleOn returns when money of a payment is final on a further network, for a business as it is now.
func (d Depths) RuleOn(business models.Business, p models.Payment, network string) FinalRule {
	coin := money.Coin(p.Coin)
	return d.DepthsOf(business)[coin].ruleOf(coin, IsLarge(p)).On(network)
}

// IsLarge reports whether a payment is above 100 USD by its quote. One whose quote doesn't say so is large when it
// waits for its network's own finality.
func IsLarge(p models.Payment) bool {
	var q struct {
		PriceUSD decimal.Decimal `json:"price_usd"`
	}
	if err := json.Unmarshal([]byte(p.Quote), &q); err != nil || q.PriceUSD.Sign() <= 0 {
		return p.FinalByNetwork
	}
	return money.Coin(p.Coin).ToFiat(p.Due, q.PriceUSD).GreaterThan(largeUSD)
}
