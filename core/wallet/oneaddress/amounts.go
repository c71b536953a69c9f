// Package oneaddress distinguishes payments to one address of a merchant by their amounts: each open payment has
// an amount of its own there (docs/decisions/0035-one-address.md).
package oneaddress

import (
	"math/big"

	"cointill/core/money"
)

const (
	// maxRise is by how much an amount due may rise, in basis points.
	maxRise = 50
	// maxAmounts bounds how many amounts a payment chooses among.
	maxAmounts = 5_000
	// coarseDecimals is how many decimals an amount must have more than: people round to them.
	coarseDecimals = 2
)

// stepDecimals is the decimal of each coin that amounts differ in: 0.0001 USDT, 0.000001 ETH.
var stepDecimals = map[money.Coin]int{money.USDT: 4, money.ETH: 6}

// ListAmounts lists the amounts that a payment of an amount due can be given, the lowest first: whole steps from
// the amount due to 0.5 % above it, with three decimals or more. Of coins that aren't received with one address
// there are none.
func ListAmounts(coin money.Coin, due money.Amount) []money.Amount {
	return listFirst(coin, due, maxAmounts)
}

// HasAmounts reports whether ListAmounts lists any.
func HasAmounts(coin money.Coin, due money.Amount) bool { return len(listFirst(coin, due, 1)) > 0 }

// listFirst lists so many of the amounts that a payment can be given.
func listFirst(coin money.Coin, due money.Amount, count int) []money.Amount {
	decimals, ok := stepDecimals[coin]
	if !ok || due.Sign() <= 0 {
		return nil
	}
	unit := coin.Info().Unit
	step, coarse := powerOfTen(unit-decimals), powerOfTen(unit-coarseDecimals)
	most := due.Add(due.MulDiv(maxRise, 10_000)).Big()
	next := new(big.Int).Add(due.Big(), new(big.Int).Sub(step, big.NewInt(1)))
	next.Sub(next, new(big.Int).Rem(next, step)) // the first whole step
	var list []money.Amount
	for ; next.Cmp(most) <= 0 && len(list) < count; next.Add(next, step) {
		if new(big.Int).Rem(next, coarse).Sign() != 0 {
			list = append(list, money.FromBig(next))
		}
	}
	return list
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
