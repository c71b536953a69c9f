package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/webhook"
	"cointill/models"
)

// Run carries orders out until ctx ends. Every replica may run it: an
// order is worked on by one at a time.
func (s *Resends) Run(ctx context.Context) error {
	for {
		wait := resendLook
		busy, err := s.hasOpenOrder(ctx)
		if err == nil && busy {
			wait = resendPause
			for more := true; more && err == nil && ctx.Err() == nil; {
				more, err = s.Step(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "resends can't be worked on", "error", err)
			wait = resendLook
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// hasOpenOrder reports whether an order is to be worked on soon.
func (s *Resends) hasOpenOrder(ctx context.Context) (found bool, err error) {
	soon := s.Clock().Add(resendPause)
	err = s.DB.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM resends WHERE done_at IS NULL AND counted_at <= ?)", soon).
		Find(&found).Error
	return found, err
}

// Step works once on the order whose turn it is: it makes one batch of deliveries and
// records how far it came in the same transaction, and counts the results of earlier
// deliveries. more reports that an order may continue at once. A crash loses nothing and
// repeats nothing.
func (s *Resends) Step(ctx context.Context) (more bool, err error) {
	made := 0
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		more, made = false, 0
		var row models.Resend
		query := tx.Where("done_at IS NULL AND counted_at <= ?", s.Clock()).Order("counted_at, id")
		if models.IsPostgres(tx) {
			query = query.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"})
		}
		if err := query.Take(&row).Error; errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		fresh, err := countResend(tx, &row, s.Clock())
		if err != nil {
			return err
		}
		if row.QueuedAt == nil && fresh < resendAhead {
			if made, err = queueResend(tx, &row, s.Clock()); err != nil {
				return err
			}
			more = made > 0 || row.QueuedAt == nil
		}
		return tx.Save(&row).Error
	})
	if err == nil && made > 0 && s.Wake != nil {
		s.Wake()
	}
	return more && err == nil, err
}

// countResend counts the results of an order's deliveries, sets the time of its next step, and
// returns how many wait for their first attempt.
func countResend(tx *models.Tx, row *models.Resend, now time.Time) (fresh int, err error) {
	// The index is of rows with an order: SQLite wants to read that.
	of := func() *models.Tx {
		return tx.Model(&models.Delivery{}).Where("resend_id = ? AND resend_id <> ''", row.ID)
	}
	if row.QueuedAt == nil {
		var untried int64
		first := of().Select("id").Where("outcome = '' AND tries = 0").Limit(resendAhead)
		if err := tx.Table("(?) AS d", first).Count(&untried).Error; err != nil {
			return 0, err
		}
		row.CountedAt = now.Add(resendPause)
		if untried < resendAhead {
			return int(untried), nil // there is more to queue, which is more urgent than to count
		}
		fresh = int(untried)
	}
	var counts []struct {
		Outcome string
		Count   int
	}
	if err := of().Select("outcome, count(*) AS count").Group("outcome").Find(&counts).Error; err != nil {
		return 0, err
	}
	row.Delivered, row.Failures = 0, 0
	waiting, mine := 0, 0
	for _, c := range counts {
		mine += c.Count
		switch c.Outcome {
		case "":
			waiting = c.Count
		case webhook.Delivered:
			row.Delivered = c.Count
		default:
			row.Failures += c.Count
		}
	}
	row.Superseded = max(0, row.Made-mine)
	if row.QueuedAt != nil {
		rest := resendRest
		if now.Sub(*row.QueuedAt) > 10*time.Minute { // the rest waits for long retries
			rest = resendLater
		}
		row.CountedAt = now.Add(rest)
		if waiting == 0 {
			row.DoneAt = &now
		}
	}
	return fresh, nil
}

// queueResend makes the next batch of an order's deliveries.
func queueResend(tx *models.Tx, row *models.Resend, now time.Time) (made int, err error) {
	targets, err := targetsOf(tx, *row)
	if err != nil {
		return 0, err
	}
	var events []models.Event
	if len(targets) > 0 {
		n := max(resendBatch/len(targets), 1)
		query := resendEvents(tx, *row).Where("number >= ? AND (number > ? OR id > ?)", row.AtNumber, row.AtNumber,
			row.AtEvent)
		if err := query.Omit("body").Order("number, id").Limit(n).Find(&events).Error; err != nil {
			return 0, err
		}
	}
	if len(events) == 0 {
		row.QueuedAt, row.CountedAt = &now, now
		if len(targets) > 0 { // all that there were; some may have gone meanwhile
			row.Walked = row.Total
		}
		return 0, nil
	}
	rows, err := pairsOf(tx, now, *row, events, targets)
	if err != nil {
		return 0, err
	}
	if made, err = webhook.QueueDeliveries(tx, now, rows, *row); err != nil {
		return 0, err
	}
	last := events[len(events)-1]
	row.AtNumber, row.AtEvent = last.Number, last.ID
	row.Walked, row.Made = min(row.Walked+len(events), row.Total), row.Made+made
	row.CountedAt = now
	return made, nil
}
