package quote

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/quote/source"
	"cointill/models"
)

// Board caches the stored prices of the configured sources in memory, so that a
// quote waits for nothing. Every replica has one. It implements Source.
type Board struct {
	db      *models.DB
	sources map[string]source.Source // by name
	loading sync.Mutex               // so that the last read wins
	held    atomic.Pointer[map[Pair][]Reading]
}

// NewBoard makes an empty board for the sources that count.
func NewBoard(db *models.DB, sources []source.Source) *Board {
	b := &Board{db: db, sources: map[string]source.Source{}}
	for _, s := range sources {
		b.sources[s.Name] = s
	}
	b.held.Store(&map[Pair][]Reading{})
	return b
}

// sourceHost returns the host of a source, without the parts of its address that may be secret.
func sourceHost(s source.Source) string {
	at, err := url.Parse(s.Origin)
	if err != nil {
		return s.Name
	}
	at.User = nil
	return at.String()
}

// Readings implements Source.
func (b *Board) Readings(p Pair) []Reading { return slices.Clone((*b.held.Load())[p]) }

// holdsRate reports whether a row is of a source that is set up, and came from where
// it is asked now.
func (b *Board) holdsRate(row models.Rate) bool {
	from, ok := b.sources[row.Source]
	return ok && sourceHost(from) == row.Origin
}

// Load reads the stored prices.
func (b *Board) Load(ctx context.Context) error {
	b.loading.Lock()
	defer b.loading.Unlock()
	var rows []models.Rate
	if err := b.db.Read(ctx).Order("source").Find(&rows).Error; err != nil {
		return err
	}
	held := map[Pair][]Reading{}
	for _, row := range rows {
		if !b.holdsRate(row) {
			continue
		}
		reading := Reading{Source: row.Source, At: row.At, Private: b.sources[row.Source].Private}
		if row.Value != "" {
			value, err := decimal.NewFromString(row.Value)
			if err != nil {
				return fmt.Errorf("stored rate %d: %w", row.ID, err)
			}
			reading.Value = value
		}
		if row.RefusedAt != nil && row.RefusedAt.After(row.FetchedAt) {
			reading.refused = row.Refused
		}
		p := Pair{Base: row.Base, Quote: row.Quote}
		held[p] = append(held[p], reading)
	}
	b.held.Store(&held)
	return nil
}

// Run keeps the board up to date until the context ends. While the database
// doesn't answer it keeps its prices, which grow stale.
func (b *Board) Run(ctx context.Context) error {
	failing := false
	return clock.RunEvery(ctx, time.Second, func() {
		err := b.Load(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			slog.ErrorContext(ctx, "stored rates can't be read", "error", err)
		}
		failing = err != nil
	})
}
