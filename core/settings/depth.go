package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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

// Depths are the operator's usual depths by coin, where they are greater than the ones
// of contract section 4. Nil has none.
type Depths map[money.Coin]Depth

// ParseDepths reads depths as an operator writes them, by coin: one number, or one
// for small and one for large payments with a slash between, as in 12/60.
func ParseDepths(texts map[string]string) (Depths, error) {
	depths := Depths{}
	for name, text := range texts {
		small, large, both := strings.Cut(text, "/")
		usual, open := Depths(nil).UsualDepth(money.Coin(name))
		d := Depth{}
		var err, also error
		d.Small, err = strconv.Atoi(small)
		if d.Large = max(d.Small, usual.Large); both {
			d.Large, also = strconv.Atoi(large)
		}
		switch {
		case !open:
			return nil, fmt.Errorf("%s is no coin whose confirmations can be raised: BTC, DOGE, ETH and USDT are", name)
		case err != nil || also != nil || d.Small < usual.Small || d.Large < max(usual.Large, d.Small) ||
			d.Large > MaxDepth:
			return nil, fmt.Errorf(
				"confirmations of %s must be at least %d/%d and at most %d, not less for large payments than for "+
					"small ones, e.g. %s=%d/%d",
				name, usual.Small, usual.Large, MaxDepth, name, usual.Small*2, usual.Large*2)
		}
		depths[money.Coin(name)] = d
	}
	return depths, nil
}

// UsualDepth returns the depth for a coin unless a business sets a greater one: the depth of
// contract section 4, or the operator's. open is false for a coin whose depth can't be
// raised, because its network is final at once.
func (d Depths) UsualDepth(coin money.Coin) (usual Depth, open bool) {
	network, evm := money.FindEVMNetwork(coin.Info().Chain, money.MainNetwork)
	switch {
	case coin == money.BTC:
		usual = Depth{2, 3}
	case coin == money.DOGE:
		usual = Depth{6, 40}
	case evm:
		usual = Depth{network.Finality.Depth, network.Finality.Depth}
	default:
		return Depth{1, 1}, false
	}
	return usual.orMore(d[coin]), true
}

func (d Depth) orMore(other Depth) Depth {
	return Depth{max(d.Small, other.Small), max(d.Large, other.Large)}
}

// DepthsOf returns the depths that a business waits for, by coin: the usual ones, or more. Unreadable
// values count as the usual ones.
func (d Depths) DepthsOf(b models.Business) map[money.Coin]Depth {
	var raised map[money.Coin]Depth
	if b.Depths != "" {
		if err := json.Unmarshal([]byte(b.Depths), &raised); err != nil {
			raised = nil
		}
	}
	all := map[money.Coin]Depth{}
	for _, info := range money.Coins() {
		usual, open := d.UsualDepth(info.Coin)
		if open {
			usual = usual.orMore(raised[info.Coin])
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
		usual, open := s.Depths.UsualDepth(coin)
		if !open {
			continue
		}
		for field, pair := range map[string][2]int{"small": {depth.Small, usual.Small},
			"large": {depth.Large, usual.Large}} {
			if pair[0] < pair[1] || pair[0] > MaxDepth {
				fields.Add(string(coin)+"_"+field, "Must be between %d and %d.", pair[1], MaxDepth)
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
	return s.changeBusiness(ctx, sc, fields, func(b *models.Business) { b.Depths = text })
}
