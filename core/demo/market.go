package demo

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
)

// market is the test domain's market as it might have been: the fixed table, multiplied by a walk
// of days that ends at the table itself.
type market struct {
	fixed quote.Fixed
	now   clock.Clock
	until time.Time
	walks map[quote.Pair][]int64 // by days before the end, in ten thousandths of the table's value
}

// NewMarket returns the rates of the past until a time.
func NewMarket(now clock.Clock, until time.Time) quote.Source {
	return &market{fixed: quote.Fixed{Clock: now}, now: now, until: until, walks: map[quote.Pair][]int64{}}
}

// Readings implements quote.Source.
func (m *market) Readings(p quote.Pair) []quote.Reading {
	readings := m.fixed.Readings(p)
	moved := decimal.New(10_000+m.drift(p), -4)
	for i := range readings {
		readings[i].Value = readings[i].Value.Mul(moved).Round(8)
	}
	return readings
}

// drift returns how far a pair is from the table now, in ten thousandths.
func (m *market) drift(p quote.Pair) int64 {
	walk := m.walks[p]
	if walk == nil {
		walk = drawWalk(p, m.until)
		m.walks[p] = walk
	}
	ago := max(0, m.until.Sub(m.now()))
	day := min(int(ago/(24*time.Hour)), len(walk)-2)
	part := int64((ago - time.Duration(day)*24*time.Hour) / time.Second)
	return walk[day] + (walk[day+1]-walk[day])*part/int64(24*time.Hour/time.Second)
}

// drawWalk draws a pair's walk: a step for each day, larger for coins than for currencies.
func drawWalk(p quote.Pair, until time.Time) []int64 {
	step := 230
	switch {
	case p.Base == string(money.USDT):
		step = 2
	case p.Base == "USD":
		step = 35
	}
	d := &random{name: fmt.Sprint("market ", p, until.Format(time.DateOnly))}
	walk := make([]int64, Days+2)
	for i := 1; i < len(walk); i++ {
		// A pair that is far away rather comes back.
		walk[i] = walk[i-1]*97/100 + int64(d.drawBelow(2*step+1)-step)
	}
	return walk
}
