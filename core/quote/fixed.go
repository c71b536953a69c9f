package quote

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
)

// fixedTable is the value of one unit in the test domain before the walk;
// docs/rates.md lists it. The figures are round on purpose, so that they don't
// look like market prices.
var fixedTable = map[string]string{
	"BTC/USD": "60000", "ETH/USD": "2500", "USDT/USD": "1", "XRP/USD": "0.5", "DOGE/USD": "0.125",
	"USD/NGN": "1500", "USD/GHS": "12.5", "USD/KES": "130",
}

// walkStep is how long a price of the fixed table stands still.
const walkStep = 10 * time.Second

// Fixed is the test domain's market: three sources that read the fixed table
// with a small walk (at most 0.25 %) that depends on nothing but the time, so
// that quotes look alive and a test with a fake clock can pin them.
type Fixed struct{ Clock clock.Clock }

// Readings reads the table for a pair; pairs that are not in it have none.
func (f Fixed) Readings(p Pair) []Reading {
	text, ok := fixedTable[p.String()]
	if !ok {
		return nil
	}
	value := decimal.RequireFromString(text)
	at := f.Clock().Truncate(walkStep)
	readings := make([]Reading, 0, 3)
	for _, source := range []string{"sandbox-a", "sandbox-b", "sandbox-c"} {
		seed := sha256.Sum256([]byte(source + p.Base + p.Quote + at.Format(time.RFC3339)))
		// −25 … +25 hundredths of a percent
		drift := decimal.New(int64(binary.BigEndian.Uint16(seed[:2])%51)-25, -4)
		readings = append(readings, Reading{Source: source, Value: value.Mul(decimal.NewFromInt(1).Add(drift)).Round(8),
			At: at})
	}
	return readings
}
