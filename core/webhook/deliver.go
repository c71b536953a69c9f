package webhook

import (
	"context"
	"net/http"
	"time"

	"cointill/core/outbox"
	"cointill/models"
)

// retries are the waits between attempts (contract section 6): ten attempts in all.
var retries = outbox.Schedule{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// The outcomes of a delivery; "" while it is pending.
const (
	Delivered = "delivered" // an attempt was answered 2xx
	Exhausted = "exhausted" // the last attempt failed
	Cancelled = "cancelled" // the endpoint was inactive, deleted or gone
)

// Worker makes the worker that delivers.
func (s *Service) Worker(o outbox.Options) *outbox.Worker[models.Delivery] {
	o.Clock = s.Clock
	return outbox.NewWorker(s.DB, deliveries, deliverer{s}, o)
}

// deliverer is what the worker calls.
type deliverer struct{ *Service }

// Key keeps endpoints from delaying one another.
func (deliverer) Key(row models.Delivery) string { return row.EndpointID }

// Work makes one attempt. Whether the endpoint is active is asked here, right
// before the request, not when the event was written.
func (d deliverer) Work(ctx context.Context, row models.Delivery) error {
	var endpoints []models.Endpoint
	var events []models.Event
	db := d.DB.Read(ctx)
	if err := db.Where("id = ?", row.EndpointID).Limit(1).Find(&endpoints).Error; err != nil {
		return err
	}
	if err := db.Where("id = ?", row.EventID).Limit(1).Find(&events).Error; err != nil {
		return err
	}
	switch {
	case len(endpoints) == 0:
		return d.cancel(ctx, row, "The webhook was deleted.")
	case !endpoints[0].Active:
		return d.cancel(ctx, row, "The webhook was inactive.")
	case len(events) == 0:
		return d.cancel(ctx, row, "The event is no longer kept.")
	}
	began := d.Clock()
	r := d.send(ctx, endpoints[0], events[0])
	if ctx.Err() != nil && r.status == 0 {
		return d.giveBack(ctx, row, began)
	}
	return d.settle(ctx, row, began, r)
}

// closing is a context for settling: what was sent must be recorded although
// the program is stopping.
func closing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

func (d deliverer) cancel(ctx context.Context, row models.Delivery, why string) error {
	ctx, done := closing(ctx)
	defer done()
	_, err := deliveries.Settle(d.DB.Exec(ctx), row.ID, row.Attempt,
		map[string]any{"done_at": d.Clock(), "outcome": Cancelled, "last_error": why})
	return err
}

// giveBack returns a delivery that was cut short by a stop, to be made at once by whoever is there.
func (d deliverer) giveBack(ctx context.Context, row models.Delivery, began time.Time) error {
	ctx, done := closing(ctx)
	defer done()
	return d.DB.Write(ctx, func(tx *models.Tx) error {
		if err := d.note(tx, row, began, result{problem: "Cointill was stopped during the request."}); err != nil {
			return err
		}
		_, err := deliveries.Settle(tx, row.ID, row.Attempt, map[string]any{"due_at": d.Clock()})
		return err
	})
}

// settle records the attempt, decides what comes next, and judges the endpoint.
func (d deliverer) settle(ctx context.Context, row models.Delivery, began time.Time, r result) error {
	ctx, done := closing(ctx)
	defer done()
	return d.DB.Write(ctx, func(tx *models.Tx) error {
		if err := d.note(tx, row, began, r); err != nil {
			return err
		}
		if _, err := deliveries.Settle(tx, row.ID, row.Attempt, d.next(row, r)); err != nil {
			return err
		}
		return d.judgeEndpoint(tx, row.EndpointID, r)
	})
}

// note writes the attempt's row. It is written although the fence may have
// moved on: the request was made.
func (d deliverer) note(tx *models.Tx, row models.Delivery, began time.Time, r result) error {
	return tx.Create(&models.DeliveryAttempt{
		DeliveryID: row.ID, Attempt: row.Attempt, At: began, Millis: d.Clock().Sub(began).Milliseconds(),
		Status: r.status, Answer: r.answer, Error: r.problem,
	}).Error
}

// next is what a delivery becomes after an attempt.
func (d deliverer) next(row models.Delivery, r result) map[string]any {
	now := d.Clock()
	set := map[string]any{"last_status": r.status, "last_error": r.problem}
	end := func(outcome string) map[string]any {
		set["done_at"], set["outcome"] = now, outcome
		return set
	}
	if r.problem == "" {
		return end(Delivered)
	}
	set["tries"] = row.Tries + 1
	if r.status == http.StatusGone {
		return end(Cancelled)
	}
	wait, left := retries.Next(row.Tries)
	if !left {
		return end(Exhausted)
	}
	wait = outbox.Jitter(wait)
	if r.retryAfter > wait {
		wait = outbox.Later(r.retryAfter)
	}
	set["due_at"] = now.Add(wait)
	return set
}

// judgeEndpoint keeps how long an endpoint has done nothing but fail, and
// switches it off when it says so or has failed for too long.
func (d deliverer) judgeEndpoint(tx *models.Tx, id string, r result) error {
	now := d.Clock()
	one := func() *models.Tx { return tx.Model(&models.Endpoint{}).Where("id = ?", id) }
	if r.problem == "" {
		return one().Where("failing_since IS NOT NULL").UpdateColumn("failing_since", nil).Error
	}
	if err := one().Where("failing_since IS NULL").UpdateColumn("failing_since", now).Error; err != nil {
		return err
	}
	off, why := one().Where("active = ?", true), "It answered 410 Gone, which asks for no more events."
	if r.status != http.StatusGone {
		off, why = off.Where("failing_since <= ?", now.Add(-Patience)), "Every delivery failed for 5 days."
	}
	done := off.UpdateColumns(map[string]any{"active": false, "off_reason": why, "updated_at": now})
	if done.Error != nil || done.RowsAffected == 0 || d.SwitchedOff == nil {
		return done.Error
	}
	var row models.Endpoint
	if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
		return err
	}
	return d.SwitchedOff(tx, row.BusinessID, endpoint(row))
}
