package outbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/models"
	"cointill/models/modelstest"
)

// batcher has each claim's rows worked on in the order of their ids.
type batcher struct {
	*handler
	work func(row models.Delivery)

	mu       sync.Mutex
	begun    []int64
	returned []int64
}

func (b *batcher) Load(_ context.Context, rows []models.Delivery) ([]outbox.Work, error) {
	works := make([]outbox.Work, len(rows))
	for i, row := range rows {
		works[i] = func(ctx context.Context) func() error {
			b.mu.Lock()
			b.begun = append(b.begun, row.ID)
			b.mu.Unlock()
			b.work(row)
			return func() error { return b.done(ctx, row) }
		}
	}
	return works, nil
}

func (b *batcher) Return(ctx context.Context, rows []models.Delivery) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, row := range rows {
		b.returned = append(b.returned, row.ID)
		set := map[string]any{"due_at": b.clock(), "claimed_at": nil, "attempt": row.Attempt - 1}
		if err := b.db.Exec(ctx).Table("deliveries").Where("id = ? AND attempt = ?", row.ID, row.Attempt).Updates(set).Error; err != nil {
			return err
		}
	}
	return nil
}

// TestLateIsPutBack: what has waited in its line for half of its lease isn't
// begun any more, as it could outlast the other half. It is claimed anew.
func TestLateIsPutBack(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		b := &batcher{handler: newHandler(db, now.Now)}
		b.work = func(row models.Delivery) {
			if row.ID == 2 { // the first showed that the line is quick: the others were claimed together
				now.Advance(table.Lease / 2)
			}
		}
		w := outbox.NewWorker(db, table, b, outbox.Options{Clock: now.Now, Share: 1, Slow: time.Hour})
		queue(t, db, "whk_1", 4)
		step(t, w)
		step(t, w)
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.begun) != 4 || len(b.returned) != 2 {
			t.Errorf("begun %v, put back %v; want 4 and 2", b.begun, b.returned)
		}
	})
}
