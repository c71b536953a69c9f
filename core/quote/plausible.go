package quote

import (
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
)

// bounds are the lowest and highest plausible value of one unit, wide enough for
// years. They refuse upside down rates, a wrong unit and the cedi of before 2007
// (10,000 of them are one of today), even when every source agrees.
var bounds = map[Pair][2]decimal.Decimal{
	{Base: "BTC", Quote: "USD"}:  newLimits("1000", "100000000"),
	{Base: "ETH", Quote: "USD"}:  newLimits("20", "10000000"),
	{Base: "USDT", Quote: "USD"}: newLimits("0.5", "2"),
	{Base: "XRP", Quote: "USD"}:  newLimits("0.01", "10000"),
	{Base: "DOGE", Quote: "USD"}: newLimits("0.001", "1000"),
	{Base: "USD", Quote: "NGN"}:  newLimits("100", "100000"),
	{Base: "USD", Quote: "GHS"}:  newLimits("2", "1000"),
	{Base: "USD", Quote: "KES"}:  newLimits("20", "5000"),
}

func newLimits(least, most string) [2]decimal.Decimal {
	return [2]decimal.Decimal{decimal.RequireFromString(least), decimal.RequireFromString(most)}
}

// boundsOf returns the bounds of a pair. USDT counts as the dollar.
func boundsOf(p Pair) ([2]decimal.Decimal, bool) {
	if p.Quote == string(money.USDT) {
		p.Quote = "USD"
	} else if p.Base == string(money.USDT) && p.Quote != "USD" {
		p.Base = "USD"
	}
	found, ok := bounds[p]
	return found, ok
}

const (
	// ahead is how much later than our clock a price may be.
	ahead = time.Minute
	// jumpWithin is the time in which a price may not move by more than maxJump.
	jumpWithin = time.Minute
)

var (
	one     = decimal.NewFromInt(1)
	maxJump = decimal.New(20, -2)
	// How far from the median of the last day a price may be. Coins have tripled
	// in a day; a currency that does is a source's mistake.
	dayFactorCoin = decimal.NewFromInt(3)
	dayFactorFiat = decimal.NewFromInt(2)
)

// farOff is why a price is refused that is plausible by itself, but was not so
// yesterday. When most of the other sources say the same it is believed: what
// they all saw has happened (Keeper.seconded).
const farOff = "far from the last day's median"

// past is the history of a pair and source when a new price arrives.
type past struct {
	value decimal.Decimal // that source's last; zero when there is none
	at    time.Time       // when it was fetched, by our clock
	day   decimal.Decimal // median of all sources over the last day; zero when unknown
}

// refusePrice says why a price is refused; "" when it is taken.
func refusePrice(p Pair, value decimal.Decimal, at, now time.Time, before past) string {
	limits, known := boundsOf(p)
	switch {
	case !known:
		return "not a pair that is used"
	case !value.IsPositive():
		return "not a price"
	case at.Sub(now) > ahead:
		return "from the future"
	case value.Equal(one) && p != (Pair{Base: string(money.USDT), Quote: "USD"}):
		return "exactly 1 to 1"
	case !isInside(value, limits) && isInside(one.DivRound(value, 32), limits):
		return "upside down"
	case !isInside(value, limits):
		return "implausible"
	}
	if before.day.IsPositive() {
		factor := dayFactorFiat
		if isCoin(p) {
			factor = dayFactorCoin
		}
		if value.GreaterThan(before.day.Mul(factor)) || value.Mul(factor).LessThan(before.day) {
			return farOff
		}
	}
	if before.value.IsPositive() && now.Sub(before.at).Abs() <= jumpWithin {
		if moved := value.Sub(before.value).Abs(); moved.GreaterThan(before.value.Mul(maxJump)) {
			return "jumped by " + formatPercent(moved, before.value) + " within a minute"
		}
	}
	return ""
}

func isInside(value decimal.Decimal, limits [2]decimal.Decimal) bool {
	return !value.LessThan(limits[0]) && !value.GreaterThan(limits[1])
}
