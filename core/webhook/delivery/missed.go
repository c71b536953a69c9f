package delivery

import (
	"context"
	"math"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// Missed is what an endpoint did not get.
type Missed struct {
	Count int        // events; at most MaxMissed
	More  bool       // there are more than that
	Since time.Time  // from when on: the first failure, or when it was switched off; zero when it never was
	Until *time.Time // when it was switched on again; nil while it is off
}

// MaxMissed is how far missed events are counted.
const MaxMissed = 10_000

// Around a pause's ends an event may have looked for active endpoints shortly
// before or after the clock was read for the pause.
const slack = 5 * time.Second

// span is a pause in event numbers: both ends count.
type span struct{ from, to int64 }

// pauseSpan returns the time of a pause with its slack, but not beyond the endpoint's own beginning.
func (s *Service) pauseSpan(e models.Endpoint, p models.EndpointPause) span {
	until := s.Clock()
	if p.Until != nil {
		until = *p.Until
	}
	return span{from: max(p.Since.Add(-slack).UnixMicro(), e.CreatedAt.UnixMicro()), to: until.Add(slack).UnixMicro()}
}

// recent is how long after its end a pause's missed events are shown.
const recent = 7 * 24 * time.Hour

// Missed tells what an endpoint did not get in its pauses of the last week, or
// since the failures began for which it was switched off: events of its types
// that were neither delivered nor are under way, as far as they can still be sent.
// It is what a resend of all since then would bring. Faults: NotFound, Forbidden.
func (s *Service) Missed(ctx context.Context, sc scope.Scope, endpointID string) (Missed, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Missed{}, err
	}
	e, err := webhook.FindEndpoint(s.DB.Read(ctx), sc, endpointID)
	if err != nil {
		return Missed{}, err
	}
	pauses, err := s.readPauses(ctx, endpointID, nil)
	if err != nil {
		return Missed{}, err
	}
	if len(pauses) == 0 || pauses[0].Until != nil && s.Clock().Sub(*pauses[0].Until) > recent {
		return Missed{}, nil
	}
	oldest := s.Clock().Add(time.Hour - KeepBodies) // with the time that it takes to ask for a resend
	m, above := Missed{Since: pauses[0].Since, Until: pauses[0].Until}, int64(math.MaxInt64)
	for i, p := range pauses {
		if i > 0 && (m.More || p.Until == nil || s.Clock().Sub(*p.Until) > recent) {
			break
		}
		if p.Since.Before(oldest) {
			p.Since = oldest
		}
		in := s.pauseSpan(e, p)
		in.to = min(in.to, above-1) // pauses close together share their slack
		above = in.from
		count, more, err := s.missedIn(ctx, sc, e, in)
		if err != nil {
			return Missed{}, err
		}
		if count > 0 || i == 0 {
			m.Since = p.Since
		}
		m.Count, m.More = m.Count+count, more || m.Count+count > MaxMissed || i == mostPauses-1
	}
	m.Count = min(m.Count, MaxMissed)
	return m, nil
}

// missedIn counts what an endpoint did not get of a span, looking at no more
// events than a resend may have.
func (s *Service) missedIn(ctx context.Context, sc scope.Scope, e models.Endpoint, in span) (count int, more bool,
	err error) {
	events := s.ofTypes(sc, s.DB.Read(ctx), e.Types).Select("id").Where("number >= ? AND number <= ?", in.from, in.to).
		Order("number DESC").Limit(MaxResend + 1)
	var found struct{ Looked, Missed int }
	err = s.DB.Read(ctx).Table("(?) AS e", events).
		Select(`count(*) AS looked, count(CASE WHEN NOT EXISTS (SELECT 1 FROM deliveries d
		WHERE d.event_id = e.id AND d.endpoint_id = ? AND (d.outcome = ? OR d.done_at IS NULL)) THEN 1 END) AS missed`, e.ID, webhook.Delivered).Scan(&found).Error
	return found.Missed, found.Looked > MaxResend, err
}

// readPauses returns the latest of an endpoint, newest first: up to mostPauses of those that
// began before a place.
func (s *Service) readPauses(ctx context.Context, endpointID string, from *paging.Cursor) (rows []models.EndpointPause,
	err error) {
	query := s.DB.Read(ctx).Where("endpoint_id = ?", endpointID)
	if from != nil {
		query = query.Where("since <= ?", from.ColumnTime().Add(slack))
	}
	err = query.Order("since DESC, id DESC").Limit(mostPauses).Find(&rows).Error
	return rows, err
}

// ofTypes are the events of a scope that an endpoint with these types receives
// when they happen; no test events, which are for one endpoint.
func (s *Service) ofTypes(sc scope.Scope, db *models.Tx, types string) *models.Tx {
	query := sc.Rows(db).Model(&models.Event{})
	if types == "" {
		return query.Where("type <> ?", webhook.WebhookTest)
	}
	return query.Where("type IN ?", webhook.SplitTypes(types))
}

// The bounds of one look for skipped events.
const (
	mostPauses  = 100
	mostScanned = 5000
)

// readSkipped returns events that were made while an endpoint was off and were not
// queued for it since, newest first, from a place on. They are found by the
// endpoint's pauses, as no row is written for what isn't sent. One look has an
// end: horizon is the place where it stopped before there were enough.
func (s *Service) readSkipped(ctx context.Context, sc scope.Scope, e models.Endpoint, from *paging.Cursor,
	limit int) (found []models.Event, horizon *paging.Cursor, err error) {
	pauses, err := s.readPauses(ctx, e.ID, from)
	if err != nil {
		return nil, nil, err
	}
	begin, left, below := from, mostScanned, int64(1)<<62
	if from != nil {
		below = from.At
	}
	for _, p := range pauses {
		in := s.pauseSpan(e, p)
		in.to = min(in.to, below)
		for len(found) < limit {
			if left <= 0 {
				return found, from, nil
			}
			rows, err := s.readEventsOf(ctx, sc, e.Types, in, from, min(left, 500))
			if err != nil {
				return nil, nil, err
			}
			if len(rows) == 0 {
				break
			}
			missing, err := s.withoutDelivered(ctx, e.ID, rows)
			if err != nil {
				return nil, nil, err
			}
			found = append(found, missing...)
			left -= len(rows)
			last := rows[len(rows)-1]
			from = &paging.Cursor{At: last.Number, ID: last.ID}
			in.to = last.Number
		}
		below = min(below, in.from-1)
	}
	if len(pauses) == mostPauses && (begin == nil || below+1 < begin.At) {
		// There are pauses before these, and a full page doesn't reach it.
		horizon = &paging.Cursor{At: below + 1, ID: "0"}
	}
	return found[:min(len(found), limit)], horizon, nil
}

// readEventsOf reads events of a span, newest first, after a place.
func (s *Service) readEventsOf(ctx context.Context, sc scope.Scope, types string, in span, after *paging.Cursor,
	limit int) (rows []models.Event, err error) {
	query := s.ofTypes(sc, s.DB.Read(ctx), types).Omit("body").Where("number >= ? AND number <= ?", in.from, in.to)
	if after != nil {
		query = query.Where("(number < ? OR id < ?)", after.At, after.ID) // the span ends at the place
	}
	err = query.Order("number DESC, id DESC").Limit(limit).Find(&rows).Error
	return rows, err
}

// withoutDelivered returns the events that an endpoint has no delivery of.
func (s *Service) withoutDelivered(ctx context.Context, endpointID string, events []models.Event) (left []models.Event,
	err error) {
	ids := make([]string, 0, len(events))
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	var had []string
	if err := s.DB.Read(ctx).Model(&models.Delivery{}).Where("event_id IN ? AND endpoint_id = ?", ids, endpointID).
		Pluck("event_id", &had).Error; err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(had))
	for _, id := range had {
		known[id] = true
	}
	for _, e := range events {
		if !known[e.ID] {
			left = append(left, e)
		}
	}
	return left, nil
}
