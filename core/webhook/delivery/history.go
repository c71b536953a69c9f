package delivery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// States are what a list of deliveries can be narrowed to. Pending includes running attempts.
func States() []string {
	return []string{webhook.Pending, webhook.Delivered, webhook.Exhausted, webhook.Cancelled, webhook.Skipped}
}

// History gives a page of what an endpoint got and didn't get, newest first,
// and the cursor of the next page, "" after the last. state is one of States,
// or "" for all. Skipped are events that were made while the endpoint was off.
// A page may be short although another follows. limit is 1–100, 0 means 25.
// Faults: Invalid, NotFound, Forbidden.
func (s *Service) History(ctx context.Context, sc scope.Scope, endpointID, state, after string, limit int) ([]Delivery,
	string, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, "", err
	}
	limit, err := paging.CheckLimit(limit)
	if err != nil {
		return nil, "", err
	}
	from, err := paging.ParseCursor(after)
	if err != nil {
		return nil, "", err
	}
	if state != "" && !slices.Contains(States(), state) {
		return nil, "", fault.RefuseField("status", "Is not a state of a delivery.")
	}
	e, err := webhook.FindEndpoint(s.DB.Read(ctx), sc, endpointID)
	if err != nil {
		return nil, "", err
	}
	var page []Delivery
	var horizon *paging.Cursor
	if state != webhook.Skipped {
		if page, err = s.readQueued(ctx, sc, e, state, from, limit+1); err != nil {
			return nil, "", err
		}
	}
	if state == "" || state == webhook.Skipped {
		var events []models.Event
		if events, horizon, err = s.readSkipped(ctx, sc, e, from, limit+1); err != nil {
			return nil, "", err
		}
		for _, event := range events {
			page = append(page, skippedDelivery(event, e))
		}
	}
	slices.SortStableFunc(page, func(a, b Delivery) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.EventID, a.EventID))
	})
	page, next := cutPage(page, horizon, limit)
	return page, next, nil
}

// cutPage returns a page of at most so many, and the cursor behind it. Nothing below the
// horizon of an unfinished look is shown: something may belong before it.
func cutPage(page []Delivery, horizon *paging.Cursor, limit int) ([]Delivery, string) {
	next := ""
	if horizon != nil {
		next = horizon.String()
		page = slices.DeleteFunc(page, func(d Delivery) bool {
			at := d.CreatedAt.UnixMicro()
			return at < horizon.At || at == horizon.At && d.EventID < horizon.ID
		})
	}
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		next = paging.Cursor{At: last.CreatedAt.UnixMicro(), ID: last.EventID}.String()
	}
	return page, next
}

// readQueued returns the deliveries of an endpoint that have a row.
func (s *Service) readQueued(ctx context.Context, sc scope.Scope, e models.Endpoint, state string, from *paging.Cursor,
	limit int) ([]Delivery, error) {
	query := s.DB.Read(ctx).Limit(limit)
	switch state {
	case "":
		query = query.Where("deliveries.endpoint_id = ?", e.ID)
	case webhook.Pending: // from the few that wait, not through all there ever were
		open := s.DB.Read(ctx).Model(&models.Delivery{}).Select("id").Where("endpoint_id = ? AND done_at IS NULL", e.ID)
		query = query.Where("deliveries.id IN (?) AND deliveries.outcome = ''", open)
	case webhook.Exhausted, webhook.Cancelled: // the index is of these alone: SQLite wants to read that
		query = query.Where("deliveries.endpoint_id = ? AND deliveries.outcome = ? AND deliveries.outcome IN "+
			"('exhausted', 'cancelled')", e.ID, state)
	default:
		query = query.Where("deliveries.endpoint_id = ? AND deliveries.outcome = ?", e.ID, state)
	}
	if from != nil {
		query = query.Where("(deliveries.created_at < ? OR deliveries.created_at = ? AND deliveries.event_id < ?)",
			from.ColumnTime(), from.ColumnTime(), from.ID)
	}
	return s.readDeliveries(sc, query)
}

// skippedDelivery is an event that an endpoint was off for, in the form of the others.
func skippedDelivery(event models.Event, e models.Endpoint) Delivery {
	return Delivery{
		EventID: event.ID, EventType: event.Type, PaymentID: event.PaymentID, Sequence: event.Sequence,
		EndpointID: e.ID, EndpointName: e.Name,
		EndpointURL: e.URL, State: webhook.Skipped, LastError: "The webhook was off when this happened.",
		EventAt: event.CreatedAt, CreatedAt: event.CreatedAt,
	}
}

// skippedBy are the endpoints that were off when an event was made.
func (s *Service) skippedBy(ctx context.Context, sc scope.Scope, eventID string) ([]Delivery, error) {
	event, err := webhook.FindEvent(s.DB.Read(ctx), sc, eventID)
	if err != nil || event.Type == webhook.WebhookTest {
		return nil, err
	}
	found, err := s.listUnqueued(ctx, sc, s.DB.Read(ctx).Where("events.id = ?", eventID))
	return slices.DeleteFunc(found, func(d Delivery) bool { return d.State != webhook.Skipped }), err
}

// DeliveryOf gives an endpoint's delivery of an event with its attempts, oldest
// first; of an event that it was off for a skipped one without. Faults:
// NotFound, Forbidden.
func (s *Service) DeliveryOf(ctx context.Context, sc scope.Scope, endpointID, eventID string) (Delivery, []Attempt,
	error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Delivery{}, nil, err
	}
	e, err := webhook.FindEndpoint(s.DB.Read(ctx), sc, endpointID)
	if err != nil {
		return Delivery{}, nil, err
	}
	if !paging.IsPlainID(eventID) {
		return Delivery{}, nil, fault.Missing("delivery")
	}
	one, err := s.readDeliveries(sc, s.DB.Read(ctx).Where("deliveries.endpoint_id = ? AND deliveries.event_id = ?", e.ID,
		eventID))
	if err != nil {
		return Delivery{}, nil, err
	}
	if len(one) == 0 {
		left, err := s.skippedBy(ctx, sc, eventID)
		if i := slices.IndexFunc(left, func(d Delivery) bool { return d.EndpointID == e.ID }); i >= 0 {
			return left[i], nil, nil
		}
		if err == nil {
			err = fault.Missing("delivery")
		}
		return Delivery{}, nil, err
	}
	attempts, err := s.readAttempts(ctx, sc, one[0].ID)
	return one[0], attempts, err
}

// Health is how an endpoint has done lately.
type Health struct {
	Attempts    int // the latest, at most 200, of its latest 100 deliveries
	Succeeded   int
	Median, P95 time.Duration // how long they took
	Last        *Attempt      // nil when there was none
	Waiting     int           // deliveries to be made; at most MaxMissed
	OldestAt    *time.Time    // when the oldest of these was queued
}

// Health tells how an endpoint has done lately. Faults: NotFound, Forbidden.
func (s *Service) Health(ctx context.Context, sc scope.Scope, endpointID string) (h Health, err error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return h, err
	}
	if _, err := webhook.FindEndpoint(s.DB.Read(ctx), sc, endpointID); err != nil {
		return h, err
	}
	var rows []models.DeliveryAttempt
	latest := s.DB.Read(ctx).Model(&models.Delivery{}).Select("id").Where("endpoint_id = ?", endpointID).
		Order("created_at DESC").Limit(100)
	err = s.DB.Read(ctx).Where("delivery_id IN (?)", latest).Order("at DESC, id DESC").Limit(200).Find(&rows).Error
	if err != nil {
		return h, err
	}
	var took []time.Duration
	for i, row := range rows {
		a := shownAttempt(sc, row)
		if i == 0 {
			h.Last = &a
		}
		if a.Error == "" {
			h.Succeeded++
		}
		took = append(took, a.Took)
	}
	if h.Attempts = len(took); h.Attempts > 0 {
		slices.Sort(took)
		h.Median, h.P95 = took[len(took)/2], took[min(len(took)*95/100, len(took)-1)]
	}
	var waiting []models.Delivery
	err = s.DB.Read(ctx).Select("created_at").Where("endpoint_id = ? AND done_at IS NULL", endpointID).Limit(MaxMissed).
		Find(&waiting).Error
	for _, d := range waiting {
		if h.OldestAt == nil || d.CreatedAt.Before(*h.OldestAt) {
			h.OldestAt = &d.CreatedAt
		}
	}
	h.Waiting = len(waiting)
	return h, err
}
