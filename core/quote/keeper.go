package quote

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/outbox"
	"cointill/core/quote/source"
	"cointill/models"
)

const (
	// firstRetry is how soon a source that failed once is asked again; it doubles.
	firstRetry = 15 * time.Second
	// lastRetry is how rarely one that keeps failing is asked, where it isn't
	// asked more rarely anyway.
	lastRetry = time.Minute
	// wantedFor is how long the answer whether a business needs live prices is cached.
	wantedFor = 10 * time.Second
)

// Keeper requests prices from the sources and stores them: one process at a time,
// which holds a lease. It asks nothing while no business has a live payment method on.
type Keeper struct {
	DB      *models.DB
	Clock   clock.Clock
	Log     *slog.Logger
	Client  *source.Client
	Service *Service // which sources there are, and what pairs are worth by all of them
	Board   *Board

	mu       sync.Mutex
	states   map[string]models.RateSource // by source
	asking   map[string]bool
	wanted   bool
	wantedAt time.Time

	minute int64         // the last that was recorded
	none   map[Pair]bool // had no rate then
	days   map[Pair]decimal.Decimal
	daysAt time.Time
}

// Run keeps the stored rates fresh until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	if err := k.readLease(ctx); err != nil {
		return err
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if err := k.askDue(ctx, &asking); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// readLease reads how far the last holder of the lease came.
func (k *Keeper) readLease(ctx context.Context) error {
	var rows []models.RateSource
	if err := k.DB.Read(ctx).Find(&rows).Error; err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states, k.asking, k.wantedAt, k.minute, k.daysAt = map[string]models.RateSource{}, map[string]bool{}, time.Time{},
		0, time.Time{}
	for _, row := range rows {
		k.states[row.Name] = row
	}
	return nil
}

// askDue begins to ask the sources that are due, and records the minute.
func (k *Keeper) askDue(ctx context.Context, asking *sync.WaitGroup) error {
	now := k.Clock()
	if now.Sub(k.wantedAt) >= wantedFor || now.Before(k.wantedAt) {
		wanted, err := k.Service.Wanted(ctx)
		if err != nil {
			return err
		}
		k.wanted, k.wantedAt = wanted, now
	}
	if !k.wanted {
		return nil
	}
	if err := k.computeMedians(ctx, now); err != nil {
		return err
	}
	for _, s := range k.listDue(now) {
		asking.Go(func() {
			defer k.markAsked(s)
			if err := k.askSource(ctx, s); err != nil && ctx.Err() == nil {
				k.Log.ErrorContext(ctx, "rates can't be stored", "source", s.Name, "error", err)
			}
		})
	}
	return nil
}

// listDue returns the sources to ask now; they are marked as being asked.
func (k *Keeper) listDue(now time.Time) (all []source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.Service.Asked {
		state := k.states[s.Name]
		// else asked elsewhere, or under a clock that was ahead
		known := state.Origin == sourceHost(s) && !state.AskedAt.After(now.Add(ahead))
		early := known && state.NextAt.After(now)
		if k.asking[s.Name] || early {
			continue
		}
		k.asking[s.Name] = true
		all = append(all, s)
	}
	return all
}

func (k *Keeper) markAsked(s source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.asking, s.Name)
}

// askSource fetches a source's documents and stores their prices. One document that
// fails doesn't stop the others.
func (k *Keeper) askSource(ctx context.Context, s source.Source) error {
	var prices []source.Price
	var failed error
	for _, d := range s.Documents {
		got, err := k.Client.Fetch(ctx, s, d)
		prices = append(prices, got...)
		if failed == nil {
			failed = err
		}
		var busy source.Busy
		if errors.As(err, &busy) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil // no news about the source
	}
	return k.storePrices(ctx, s, prices, failed)
}

// storePrices writes the prices that are plausible, why others are refused, and how
// asking went, in one transaction.
func (k *Keeper) storePrices(ctx context.Context, s source.Source, prices []source.Price, failed error) error {
	now := k.Clock()
	state := k.sourceState(s, len(prices), failed, now)
	err := k.DB.Write(ctx, func(tx *models.Tx) error {
		var rows []models.Rate
		if err := tx.Where("source = ?", s.Name).Find(&rows).Error; err != nil {
			return err
		}
		known := map[Pair]models.Rate{}
		for _, row := range rows {
			known[Pair{Base: row.Base, Quote: row.Quote}] = row
		}
		for _, price := range prices {
			row, changed, err := k.acceptPrice(tx, s, price, known[price.Pair], now)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			if err := tx.Save(&row).Error; err != nil {
				return err
			}
			known[price.Pair] = row
		}
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&state).Error
	})
	k.recordState(ctx, s, state, failed) // also when nothing could be written: the source isn't asked again at once
	if err != nil {
		return err
	}
	return k.Board.Load(ctx)
}

// sourceState returns the state of a source after an answer or a failure. A source that
// fails in part is requested as often as before: its other prices must stay fresh.
func (k *Keeper) sourceState(s source.Source, got int, failed error, now time.Time) models.RateSource {
	k.mu.Lock()
	state := k.states[s.Name]
	k.mu.Unlock()
	state.Name, state.Origin, state.AskedAt = s.Name, sourceHost(s), now
	pause := s.Every
	if failed == nil {
		state.AnsweredAt, state.Failures, state.Problem = &now, 0, ""
	} else {
		if got == 0 {
			pause = min(firstRetry<<min(state.Failures, 10), max(s.Every, lastRetry))
		}
		state.Failures++
		state.Problem = failed.Error()
	}
	state.NextAt = now.Add(outbox.JitterWait(pause))
	var busy source.Busy
	if errors.As(failed, &busy) && busy.After > pause {
		state.NextAt = now.Add(outbox.AddLater(busy.After))
	}
	return state
}

// acceptPrice returns the row of a pair with a new price, and whether it has changed.
func (k *Keeper) acceptPrice(tx *models.Tx, s source.Source, price source.Price, row models.Rate,
	now time.Time) (models.Rate, bool, error) {
	at := clock.Trim(price.At)
	before := past{day: k.dayMedian(price.Pair), at: row.FetchedAt}
	// What was asked elsewhere, or stored under a clock that was ahead, is as good as nothing.
	if value, err := decimal.NewFromString(row.Value); err == nil && row.Origin == sourceHost(s) &&
		!row.At.After(now.Add(ahead)) {
		before.value = value
		if row.At.After(at) {
			return row, false, nil // an older answer than the one that is there
		}
	}
	if row.ID == 0 {
		row = models.Rate{Source: s.Name, Base: price.Base, Quote: price.Quote}
	}
	if row.Origin != sourceHost(s) {
		row.Origin, row.Value, row.At, row.FetchedAt = sourceHost(s), "", at, time.Time{}
	}
	why := refusePrice(price.Pair, price.Value, at, now, before)
	if why == farOff {
		believed, err := k.isSeconded(tx, s, price, now)
		if err != nil {
			return row, false, err
		}
		if believed {
			why = ""
			k.Log.Warn("most sources say that a rate has moved far", "source", s.Name, "pair", price.Pair.String(),
				"value", price.Value.String())
		}
	}
	if why != "" {
		if row.RefusedAt == nil || now.Sub(*row.RefusedAt) > time.Hour {
			k.Log.Warn("a rate is refused", "source", s.Name, "pair", price.Pair.String(), "value",
				price.Value.String(), "why", why)
		}
		row.Refused, row.RefusedValue, row.RefusedAt = why, price.Value.String(), &now
		return row, true, nil
	}
	row.Value, row.At, row.FetchedAt = price.Value.String(), at, now
	return row, true, nil
}

// isSeconded reports whether most of the other sources say the same of a pair as
// a price that is far off: whether they were refused for it, too, or believed since.
func (k *Keeper) isSeconded(tx *models.Tx, s source.Source, price source.Price, now time.Time) (bool, error) {
	p, tether := price.Pair, string(money.USDT)
	quotes := []string{p.Quote}
	if p.Quote == "USD" || p.Quote == tether { // near enough to a dollar for this
		p.Quote, quotes = "USD", []string{"USD", tether}
	}
	var rows []models.Rate
	if err := tx.Where("base = ? AND quote IN ? AND source <> ?", p.Base, quotes, s.Name).
		Find(&rows).Error; err != nil {
		return false, err
	}
	same, others := 0, 0
	limit := price.Value.Mul(k.Service.agreementBand(p))
	for _, row := range rows {
		if !k.Board.holdsRate(row) {
			continue
		}
		text, said := row.Value, row.At
		if row.RefusedAt != nil && row.RefusedAt.After(row.FetchedAt) {
			if row.Refused != farOff {
				continue // a source that talks nonsense has no say
			}
			text, said = row.RefusedValue, *row.RefusedAt
		}
		value, err := decimal.NewFromString(text)
		if err != nil || now.Sub(said) > maxAge(p) {
			continue
		}
		others++
		if !value.Sub(price.Value).Abs().GreaterThan(limit) {
			same++
		}
	}
	return same > 0 && 2*(same+1) > others+1, nil
}

// recordState notes how a source does and says so in the log when that changes.
func (k *Keeper) recordState(ctx context.Context, s source.Source, state models.RateSource, failed error) {
	k.mu.Lock()
	before := k.states[s.Name]
	k.states[s.Name] = state
	k.mu.Unlock()
	switch {
	case failed != nil && before.Problem != state.Problem:
		k.Log.WarnContext(ctx, "a rate source fails", "source", s.Name, "problem", state.Problem, "error",
			errors.Unwrap(failed))
	case failed == nil && before.Problem != "":
		k.Log.InfoContext(ctx, "a rate source answers again", "source", s.Name)
	}
}

// dayMedian returns what a pair was worth over the last day, as a median; zero when unknown.
func (k *Keeper) dayMedian(p Pair) decimal.Decimal {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.Quote == "USDT" {
		p.Quote = "USD"
	}
	return k.days[p]
}

// setDays replaces the medians of the last day.
func (k *Keeper) setDays(days map[Pair]decimal.Decimal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.days = maps.Clone(days)
}
