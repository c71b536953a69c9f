package outbox_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/models"
	"cointill/models/modelstest"
)

// shaky settles all but one endpoint's rows; at that one's it panics.
type shaky struct{ *handler }

func (s shaky) Load(_ context.Context, rows []models.Delivery) ([]outbox.Work, error) {
	works := make([]outbox.Work, len(rows))
	for i, row := range rows {
		works[i] = func(ctx context.Context) func() error {
			return func() error {
				if row.EndpointID == "whk_bad" {
					panic("settling fails")
				}
				return s.done(ctx, row)
			}
		}
	}
	return works, nil
}

func (shaky) Return(context.Context, []models.Delivery) error { return nil }

// TestPanicWhileSettling costs the one attempt, which comes back with its lease's
// end, and neither the others nor the program.
func TestPanicWhileSettling(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(start)
		w := outbox.NewWorker(db, table, shaky{newHandler(db, now.Now)}, outbox.Options{Clock: now.Now, Log: slog.New(slog.DiscardHandler)})
		queue(t, db, "whk_bad", 1)
		queue(t, db, "whk_good", 3)
		if n, err := w.Step(t.Context()); n != 4 || err == nil || !strings.Contains(err.Error(), "settling fails") {
			t.Errorf("w.Step(t.Context()): n = %v, err = %v", n, err)
		}
		var open []models.Delivery
		if err := db.Read(t.Context()).Where("done_at IS NULL").Find(&open).Error; err != nil || len(open) != 1 ||
			open[0].EndpointID != "whk_bad" || !open[0].DueAt.Equal(start.Add(table.Lease)) {
			t.Errorf("%+v %v", open, err)
		}
	})
}
