package servertest

import (
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/quote"
)

// Market is the live domain's market: what the test says. Safe for concurrent use.
type Market struct {
	mu   sync.Mutex
	said map[string][]quote.Reading
}

// Readings implements quote.Source.
func (m *Market) Readings(p quote.Pair) []quote.Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said[p.String()])
}

// SetPrice adds what a source says of a pair ("BTC/USD") since a time.
func (m *Market) SetPrice(source, pair, value string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said == nil {
		m.said = map[string][]quote.Reading{}
	}
	m.said[pair] = append(m.said[pair], quote.Reading{Source: source, Value: decimal.RequireFromString(value), At: at})
}

// RemovePrice removes the price of a pair.
func (m *Market) RemovePrice(pair string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.said, pair)
}
