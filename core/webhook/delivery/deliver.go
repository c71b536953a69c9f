package delivery

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/core/webhook/guard"
	"cointill/models"
)

// retrySchedule holds the waits between attempts (contract section 6): ten attempts in all.
var retrySchedule = outbox.Schedule{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// How many requests run at once unless the options of the worker say otherwise.
const (
	pool     = 1024 // in all: a hanging endpoint costs a goroutine and a socket
	share    = 4    // to an endpoint
	leaseFor = 40 * time.Second
)

// deliveries is how the table is worked through. Half of the lease outlasts the
// 15 s of an attempt.
var deliveries = outbox.Table{Name: "deliveries", Key: "endpoint_id", Lease: leaseFor,
	Columns: "id, event_id, endpoint_id, attempt, tries",
	Group:   "SELECT host FROM endpoints WHERE endpoints.id = queues.key"}

// Sender makes the requests of deliveries and records their results. Its fields are set once,
// before use.
type Sender struct {
	DB        *models.DB
	Clock     clock.Clock
	Endpoints *webhook.Service
	// Clients sends deliveries, one client for each domain (guard.NewClient).
	Clients map[scope.Domain]*http.Client
	// Version is Cointill's, for the User-Agent.
	Version string
	// Attempted is called after every request to an endpoint, for metrics and
	// traces; it may be nil, and must not block.
	Attempted func(Attempted)
}

// Attempted is a request that was made to an endpoint.
type Attempted struct {
	Event    models.Event
	Endpoint string // its id
	Attempt  int    // of this delivery, from 1
	Began    time.Time
	Took     time.Duration
	Status   int  // of the answer; 0 when there was none
	Success  bool // the endpoint took the event
}

// Worker makes the worker that delivers. Zero options are replaced by what
// deliveries need: 1,024 requests at once where the options say nothing, of these 4 to an endpoint and 32 to
// a host name.
func (s *Sender) Worker(o outbox.Options) *outbox.Worker[models.Delivery] {
	o.Clock = s.Clock
	for option, otherwise := range map[*int]int{&o.Pool: pool, &o.Share: share, &o.GroupShare: guard.PerHost} {
		if *option == 0 {
			*option = otherwise
		}
	}
	return outbox.NewWorker(s.DB, deliveries, deliverer{s, newSettler(s)}, o)
}

// deliverer is what the worker calls.
type deliverer struct {
	*Sender
	settler *settler
}

// Key keeps endpoints from delaying one another.
func (deliverer) Key(row models.Delivery) string { return row.EndpointID }

// Work makes one attempt: Load does that for many.
func (d deliverer) Work(ctx context.Context, row models.Delivery) error {
	works, err := d.Load(ctx, []models.Delivery{row})
	if err != nil {
		return err
	}
	return works[0](ctx)()
}

// Load reads the endpoints and events of a claim right before its requests:
// whether an endpoint is active counts now, not when the event was written.
func (d deliverer) Load(ctx context.Context, rows []models.Delivery) ([]outbox.Work, error) {
	slices.SortFunc(rows, func(a, b models.Delivery) int { return int(a.ID - b.ID) })
	endpointIDs, eventIDs := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		endpointIDs[row.EndpointID], eventIDs[row.EventID] = true, true
	}
	when := d.lastLook()
	var endpoints []models.Endpoint
	if err := d.DB.Read(ctx).Where("id IN ?", padList(endpointIDs)).Find(&endpoints).Error; err != nil {
		return nil, err
	}
	var events []models.Event
	if err := d.DB.Read(ctx).Select("id, domain, type, payment_id, body, pruned").Where("id IN ?", padList(eventIDs)).
		Find(&events).Error; err != nil {
		return nil, err
	}
	destinations, eventOf := map[string]*atomic.Pointer[destination]{}, map[string]models.Event{}
	for id := range endpointIDs {
		destinations[id] = new(atomic.Pointer[destination])
	}
	for _, e := range endpoints {
		destinations[e.ID].Store(d.newDestination(e, when))
		if e.Host == "" { // registered by a version before hosts were kept
			if err := d.DB.Exec(ctx).Model(&models.Endpoint{}).Where("id = ?", e.ID).
				UpdateColumn("host", webhook.HostOf(e.URL)).Error; err != nil {
				return nil, err
			}
		}
	}
	for _, e := range events {
		eventOf[e.ID] = e
	}
	works := make([]outbox.Work, len(rows))
	for i, row := range rows {
		to, event := destinations[row.EndpointID], eventOf[row.EventID]
		works[i] = func(ctx context.Context) func() error { return d.makeAttempt(ctx, row, to, event) }
	}
	return works, nil
}

// sizes are the lengths that lists in statements have, so that there are only
// so many statements for a database to prepare.
var sizes = []int{1, 4, 16, 64, 256, 512}

// padList returns a set as a list of one of the sizes: its last repeats.
func padList(set map[string]bool) []string {
	list := slices.Collect(maps.Keys(set))
	for len(list) > 0 && !slices.Contains(sizes, len(list)) && len(list) < sizes[len(sizes)-1] {
		list = append(list, list[len(list)-1])
	}
	return list
}

// stale is how old a read endpoint may be when an attempt starts: a change by another process
// may be missed for so long. Changes by this process never are.
const stale = 250 * time.Millisecond

// refreshDestination reads an endpoint again when its last read is too old: the row may have waited in its
// queue, and the endpoint may be off or have another address now. The rows behind it in the
// queue use the same read.
func (d deliverer) refreshDestination(ctx context.Context, to *atomic.Pointer[destination]) (*destination, error) {
	known := to.Load()
	when := d.lastLook()
	if known == nil || when.edits == known.edits && when.at.Sub(known.at) < stale {
		return known, nil
	}
	var rows []models.Endpoint
	if err := d.DB.Point(ctx).Where("id = ?", known.ID).Find(&rows).Error; err != nil {
		return nil, err
	}
	var now *destination
	if len(rows) > 0 {
		now = d.newDestination(rows[0], when)
	}
	to.Store(now)
	return now, nil
}

// makeAttempt makes one request, or finds that none is to be made.
func (d deliverer) makeAttempt(ctx context.Context, row models.Delivery, of *atomic.Pointer[destination],
	event models.Event) func() error {
	to, err := d.refreshDestination(ctx, of)
	switch {
	case err != nil:
		return func() error { return err }
	case to == nil:
		return d.cancelDelivery(row, webhook.EndpointDeleted)
	case !to.Active:
		return d.cancelDelivery(row, webhook.EndpointInactive)
	case event.ID == "" || event.Pruned:
		return d.cancelDelivery(row, webhook.EventNotKept)
	}
	began := d.Clock()
	r := d.sendRequest(ctx, to, event)
	s := &settlement{row: row, url: to.URL, sent: true, began: began, took: d.Clock().Sub(began), result: r,
		judge: true}
	if d.Attempted != nil {
		d.Attempted(Attempted{Event: event, Endpoint: row.EndpointID, Attempt: row.Attempt, Began: began, Took: s.took,
			Status: r.status, Success: r.problem == ""})
	}
	switch {
	case ctx.Err() != nil && r.status == 0: // cancelled by a stop: any other process may send it at once
		s.result.code, s.judge = diagnose.Stopped, false
		s.result.problem = diagnose.Stopped.Describe()
		s.set = map[string]any{"due_at": d.Clock()}
	case r.problem != "":
		s.set = chooseRetry(row, r, d.Clock())
	}
	return d.settler.queueSettlement(s)
}

func (d deliverer) cancelDelivery(row models.Delivery, why webhook.Reason) func() error {
	return d.settler.queueSettlement(&settlement{row: row, set: map[string]any{
		"done_at": d.Clock(), "outcome": webhook.Cancelled, "last_error": why.Sentence, "last_code": why.Code,
		"attempt": row.Attempt - 1, // none was made
	}})
}

// Return gives deliveries back that no request was made for: their attempt doesn't count.
func (d deliverer) Return(ctx context.Context, rows []models.Delivery) error {
	ctx, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	pairs := make([][2]int64, 0, len(rows))
	for _, row := range rows {
		pairs = append(pairs, [2]int64{row.ID, int64(row.Attempt)})
	}
	return updatePairs(d.DB.Exec(ctx), pairs, "due_at = @now, claimed_at = NULL, attempt = deliveries.attempt - 1",
		map[string]any{"now": d.Clock()})
}
