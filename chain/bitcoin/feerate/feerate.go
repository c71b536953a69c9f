// Package feerate reads and writes fee rates, in satoshi for 1,000 virtual bytes.
package feerate

import (
	"math/big"
	"regexp"

	"cointill/core/money"
)

// decimalRate is the form of a rate in JSON, with an exponent that is small enough to compute with.
var decimalRate = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,18})?([eE][-+]?[0-9]{1,2})?$`)

// Parse parses a decimal rate, times a power of ten, and rounds it up; 0 for another text.
func Parse(text string, factor int64) int64 {
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

// Format writes a rate as wallets show it: sat/vB, or whole Dogecoin for 1,000 bytes.
func Format(coin money.Coin, rate int64) string {
	if coin != money.BTC {
		return money.Units(rate).Format(coin.Info().Unit, 0) + " " + string(coin) + "/kB"
	}
	return money.Units(rate).Format(3, 0) + " sat/vB"
}
