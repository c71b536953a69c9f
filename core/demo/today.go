package demo

import (
	"time"

	"cointill/core/money"
)

// lastOrder is how long before the end of the past the last drawn payment is: planToday
// plans the later ones.
const lastOrder = 20 * time.Minute

// planToday plans payments that are still open when the past ends, or wait for the owner.
func (s *shop) planToday(people *customers) {
	for _, one := range []struct {
		before   time.Duration
		currency string
		amount   int64
		method   money.Method
		course   course
	}{
		{31 * time.Hour, "USD", 120, money.CryptoTether, tooMuch},
		{22 * time.Hour, "NGN", 64_000, money.CryptoRipple, tooLittle},
		{9 * time.Minute, "USD", 90, money.CryptoBitcoin, halfPaid},
		{6 * time.Minute, "USD", 20, money.CryptoBitcoin, unconfirmed},
		{1 * time.Minute, "KES", 2_450, money.CryptoDogecoin, expired},
	} {
		o := s.drawOrder(&draws{name: "today"}, s.until.Add(-one.before), people)
		o.currency, o.amount, o.method, o.course, o.link = one.currency, one.amount, one.method, one.course, 0
		s.planOrder(o)
	}
}
