package settings

import (
	"context"
	"encoding/json"
	"fmt"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Depth is how many confirmations make a payment final: one for small payments,
// and one for those above 100 USD. 0 is the usual one.
type Depth struct{ Small, Large int }

// MaxDepth bounds what a business may ask for: customers wait for it.
const MaxDepth = 200

// Usual is the depth of contract section 4 for a coin; false for one whose depth
// can't be raised, since its network's word is final at once.
func Usual(coin money.Coin) (Depth, bool) {
	switch coin {
	case money.BTC:
		return Depth{2, 3}, true
	case money.DOGE:
		return Depth{6, 40}, true
	case money.ETH, money.USDT:
		return Depth{12, 12}, true
	}
	return Depth{1, 1}, false
}

// DepthsOf are the depths that a business waits for, by coin: the usual ones, or
// more. What can't be read counts as the usual ones.
func DepthsOf(b models.Business) map[money.Coin]Depth {
	var raised map[money.Coin]Depth
	if b.Depths != "" {
		if err := json.Unmarshal([]byte(b.Depths), &raised); err != nil {
			raised = nil
		}
	}
	all := map[money.Coin]Depth{}
	for _, info := range money.Coins() {
		usual, open := Usual(info.Coin)
		if open {
			usual.Small, usual.Large = max(usual.Small, raised[info.Coin].Small), max(usual.Large, raised[info.Coin].Large)
		}
		all[info.Coin] = usual
	}
	return all
}

// SetDepths changes how long payments that are made from now on wait. Invalid
// with a sentence per field, such as BTC_small and BTC_large.
func (s *Service) SetDepths(ctx context.Context, sc scope.Scope, depths map[money.Coin]Depth) error {
	fields, raised := fault.Fields{}, map[money.Coin]Depth{}
	for coin, depth := range depths {
		usual, open := Usual(coin)
		if !open {
			continue
		}
		for field, pair := range map[string][2]int{"small": {depth.Small, usual.Small}, "large": {depth.Large, usual.Large}} {
			if pair[0] < pair[1] || pair[0] > MaxDepth {
				fields.Add(string(coin)+"_"+field, fmt.Sprintf("Must be between %d and %d.", pair[1], MaxDepth))
			}
		}
		if len(fields) == 0 && depth.Large < depth.Small {
			fields.Add(string(coin)+"_large", "Must not be less than for small payments.")
		}
		if depth != usual {
			raised[coin] = depth
		}
	}
	text := ""
	if len(raised) > 0 {
		written, err := json.Marshal(raised) // in the order of the coins' names
		if err != nil {
			return err
		}
		text = string(written)
	}
	return s.change(ctx, sc, fields, func(b *models.Business) { b.Depths = text })
}
