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
	// wantedFor is how long it is believed whether anybody needs live prices.
	wantedFor = 10 * time.Second
)

// Keeper asks the sources and stores what they say: one process at a time, which
// holds a lease. It asks nothing while no business has a live payment method on.
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

	minute int64 // the last that was recorded
	days   map[Pair]decimal.Decimal
	daysAt time.Time
}

// Run keeps the stored rates fresh until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	if err := k.start(ctx); err != nil {
		return err
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if err := k.step(ctx, &asking); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// start reads how far the last holder of the lease came.
func (k *Keeper) start(ctx context.Context) error {
	var rows []models.RateSource
	if err := k.DB.Read(ctx).Find(&rows).Error; err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states, k.asking, k.wantedAt, k.minute, k.daysAt = map[string]models.RateSource{}, map[string]bool{}, time.Time{}, 0, time.Time{}
	for _, row := range rows {
		k.states[row.Name] = row
	}
	return nil
}

// step begins to ask the sources that are due, and records the minute.
func (k *Keeper) step(ctx context.Context, asking *sync.WaitGroup) error {
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
	if err := k.remember(ctx, now); err != nil {
		return err
	}
	for _, s := range k.due(now) {
		asking.Go(func() {
			defer k.done(s)
			if err := k.ask(ctx, s); err != nil && ctx.Err() == nil {
				k.Log.ErrorContext(ctx, "rates can't be stored", "source", s.Name, "error", err)
			}
		})
	}
	return nil
}

// due are the sources to ask now; they are marked as being asked.
func (k *Keeper) due(now time.Time) (all []source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.Service.Asked {
		// A next time that is far ahead was written under another clock.
		next := k.states[s.Name].NextAt
		if k.asking[s.Name] || next.After(now) && next.Sub(now) <= 2*max(s.Every, time.Hour) {
			continue
		}
		k.asking[s.Name] = true
		all = append(all, s)
	}
	return all
}

func (k *Keeper) done(s source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.asking, s.Name)
}

// ask fetches a source's documents and stores what came. One document that
// fails doesn't hold back the others.
func (k *Keeper) ask(ctx context.Context, s source.Source) error {
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
	return k.store(ctx, s, prices, failed)
}

// store writes the prices that are plausible, why others are refused, and how
// asking went, in one transaction.
func (k *Keeper) store(ctx context.Context, s source.Source, prices []source.Price, failed error) error {
	now := k.Clock()
	state := k.after(s, failed, now)
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
			row, changed := k.accept(s, price, known[price.Pair], now)
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
	k.tell(ctx, s, state, failed) // also when nothing could be written: the source isn't asked again at once
	if err != nil {
		return err
	}
	return k.Board.Load(ctx)
}

// after is how asking a source stands after an answer or a failure.
func (k *Keeper) after(s source.Source, failed error, now time.Time) models.RateSource {
	k.mu.Lock()
	state := k.states[s.Name]
	k.mu.Unlock()
	state.Name, state.AskedAt = s.Name, now
	pause := s.Every
	if failed == nil {
		state.AnsweredAt, state.Failures, state.Problem = &now, 0, ""
	} else {
		pause = min(firstRetry<<min(state.Failures, 10), max(s.Every, lastRetry))
		state.Failures++
		state.Problem = failed.Error()
	}
	state.NextAt = now.Add(outbox.Jitter(pause))
	var busy source.Busy
	if errors.As(failed, &busy) && busy.After > pause {
		state.NextAt = now.Add(outbox.Later(busy.After))
	}
	return state
}

// accept is the row of a pair after a price came, and whether it is another.
func (k *Keeper) accept(s source.Source, price source.Price, row models.Rate, now time.Time) (models.Rate, bool) {
	before := past{day: k.day(price.Pair)}
	if row.Value != "" {
		value, err := decimal.NewFromString(row.Value)
		if err == nil { // a stored value that can't be read counts as none
			before.value, before.at = value, row.At
		}
	}
	at := clock.Trim(price.At)
	if before.at.After(at) {
		return row, false // an older answer than the one that is there
	}
	if row.ID == 0 {
		row = models.Rate{Source: s.Name, Base: price.Base, Quote: price.Quote, At: at}
	}
	row.FetchedAt = now
	if why := judge(price.Pair, price.Value, at, now, before); why != "" {
		if row.RefusedAt == nil || now.Sub(*row.RefusedAt) > time.Hour {
			k.Log.Warn("a rate is refused", "source", s.Name, "pair", price.Pair.String(), "value", price.Value.String(), "why", why)
		}
		row.Refused, row.RefusedValue, row.RefusedAt = why, price.Value.String(), &now
		return row, true
	}
	row.Value, row.At = price.Value.String(), at
	return row, true
}

// tell notes how a source does and says so in the log when that changes.
func (k *Keeper) tell(ctx context.Context, s source.Source, state models.RateSource, failed error) {
	k.mu.Lock()
	before := k.states[s.Name]
	k.states[s.Name] = state
	k.mu.Unlock()
	switch {
	case failed != nil && before.Problem != state.Problem:
		k.Log.WarnContext(ctx, "a rate source fails", "source", s.Name, "problem", state.Problem, "error", errors.Unwrap(failed))
	case failed == nil && before.Problem != "":
		k.Log.InfoContext(ctx, "a rate source answers again", "source", s.Name)
	}
}

// day is what a pair was worth over the last day, as a median; zero when unknown.
func (k *Keeper) day(p Pair) decimal.Decimal {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.Quote == "USDT" {
		p.Quote = "USD"
	}
	return k.days[p]
}

// setDays replaces what is known of the last day.
func (k *Keeper) setDays(days map[Pair]decimal.Decimal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.days = maps.Clone(days)
}
