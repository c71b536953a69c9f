package demo

import (
	"time"

	"cointill/core/money"
)

// lastOrder is how long before the end of the past the last drawn payment is: planFixed
// plans the later ones.
const lastOrder = 20 * time.Minute

// planFixed plans payments that end in a rare way, are still open when the past ends, or wait for the owner.
func (s *shop) planFixed(people *customers) {
	for _, one := range []struct {
		before   time.Duration
		currency string
		amount   int64
		method   money.Method
		scenario scenario
	}{
		{6 * 24 * time.Hour, "NGN", 48_000, money.CryptoBitcoin, reversed},
		{3 * 24 * time.Hour, "KES", 6_300, money.CryptoDogecoin, dropped},
		{2 * 24 * time.Hour, "NGN", 36_000, money.CryptoEthereum, failed},
		{31 * time.Hour, "USD", 120, money.CryptoTether, tooMuch},
		{22 * time.Hour, "NGN", 64_000, money.CryptoRipple, tooLittle},
		{14 * time.Minute, "GHC", 420, money.CryptoBitcoin, reorged},
		{9 * time.Minute, "USD", 90, money.CryptoBitcoin, halfPaid},
		{6 * time.Minute, "USD", 20, money.CryptoBitcoin, unconfirmed},
		{10 * time.Second, "KES", 2_450, money.CryptoDogecoin, expired},
	} {
		o := s.drawOrder(&random{name: "fixed"}, s.until.Add(-one.before), people)
		o.currency, o.amount, o.method, o.scenario, o.link = one.currency, one.amount, one.method, one.scenario, 0
		s.planOrder(o)
	}
}
