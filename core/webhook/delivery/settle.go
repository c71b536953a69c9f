package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/outbox"
	"cointill/core/webhook"
	"cointill/models"
)

// settlement is the result of one attempt, to be written.
type settlement struct {
	row    models.Delivery
	url    string // where to
	sent   bool   // a request was made, which is noted
	began  time.Time
	took   time.Duration
	result result
	set    map[string]any // what the delivery becomes; nil when it was delivered
	judge  bool           // whether the endpoint is judged by it
	done   chan error
}

// settler writes settlements in groups: those that arrive while a transaction runs are written
// together by the next one, so that many share a commit.
type settler struct {
	sender *Sender
	slots  chan struct{} // bounds the waiting settlements

	mu      sync.Mutex
	waiting []*settlement
	running bool
}

const (
	maxPerTransaction = 500                   // at most in one transaction
	maxWaiting        = 2000                  // at most waiting
	linger            = 10 * time.Millisecond // between two transactions: settlements in between share the next
)

func newSettler(s *Sender) *settler {
	return &settler{sender: s, slots: make(chan struct{}, maxWaiting)}
}

// queueSettlement queues a settlement and returns a function that waits for its commit.
func (g *settler) queueSettlement(s *settlement) func() error {
	g.slots <- struct{}{}
	s.done = make(chan error, 1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, s)
	if !g.running {
		g.running = true
		go g.settleAll()
	}
	return func() error { return <-s.done }
}

// settleAll settles groups until nothing waits.
func (g *settler) settleAll() {
	for group := g.takeGroup(); len(group) > 0; group = g.takeGroup() {
		g.settleGroup(group)
		for range group {
			<-g.slots
		}
		<-time.After(linger)
	}
}

// takeGroup removes the next group from the queue. When there is none, run ends, and the next
// settlement starts it again.
func (g *settler) takeGroup() (group []*settlement) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), maxPerTransaction)
	group, g.waiting = g.waiting[:n], append([]*settlement(nil), g.waiting[n:]...)
	g.running = n > 0
	return group
}

// settleGroup writes a group. A request that was sent must be recorded although the program is
// stopping. One that the database refuses doesn't cost the others.
func (g *settler) settleGroup(group []*settlement) {
	ctx, stop := context.WithTimeout(context.Background(), 8*time.Second)
	defer stop()
	err := g.recordGuarded(ctx, group)
	if err != nil && len(group) > 1 {
		for _, one := range group {
			one.done <- g.recordGuarded(ctx, []*settlement{one})
		}
		return
	}
	for _, one := range group {
		one.done <- err
	}
}

// recordGuarded records a group. A panic fails the group, not the program.
func (g *settler) recordGuarded(ctx context.Context, group []*settlement) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return g.sender.recordGroup(ctx, group)
}

func (s *Sender) recordGroup(ctx context.Context, group []*settlement) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := writeAttempts(tx, group); err != nil {
			return err
		}
		if err := s.settleDeliveries(tx, group); err != nil {
			return err
		}
		return s.noteOutcomes(tx, group)
	})
}

// writeAttempts writes the attempts' rows. They are written although the fence may have
// moved on: the requests were made.
func writeAttempts(tx *models.Tx, group []*settlement) error {
	var rows []models.DeliveryAttempt
	for _, s := range group {
		if s.sent {
			rows = append(rows, models.DeliveryAttempt{
				DeliveryID: s.row.ID, Attempt: s.row.Attempt, At: s.began, Millis: s.took.Milliseconds(),
				Status:  s.result.status,
				Request: s.result.request, Header: s.result.header, Answer: s.result.answer, Error: s.result.problem,
				Code: string(s.result.code),
			})
		}
	}
	for len(rows) > 0 {
		n := 1
		for _, size := range sizes {
			if size <= len(rows) {
				n = size
			}
		}
		some := rows[:n]
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&some).Error; err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// settleDeliveries writes the new states of the deliveries: those that were delivered together,
// by the status they were answered with.
func (s *Sender) settleDeliveries(tx *models.Tx, group []*settlement) error {
	delivered := map[int][][2]int64{}
	for _, one := range group {
		if one.set == nil {
			delivered[one.result.status] = append(delivered[one.result.status],
				[2]int64{one.row.ID, int64(one.row.Attempt)})
			continue
		}
		if _, err := deliveries.Settle(tx, one.row.ID, one.row.Attempt, one.set); err != nil {
			return err
		}
	}
	for status, pairs := range delivered {
		err := updatePairs(tx, pairs,
			"done_at = @now, outcome = @outcome, last_status = @status, last_error = '', "+
				"last_code = '', claimed_at = NULL",
			map[string]any{"now": s.Clock(), "outcome": webhook.Delivered, "status": status})
		if err != nil {
			return err
		}
	}
	return nil
}

// updatePairs changes the deliveries whose id and attempt are named and that are
// not done. They have no outcome; asked for done_at, PostgreSQL might go through
// everything that waits instead of these ids.
func updatePairs(tx *models.Tx, pairs [][2]int64, set string, values map[string]any) error {
	text, _ := json.Marshal(pairs) // numbers have no error
	elements := "SELECT value ->> 0 AS id, value ->> 1 AS attempt FROM json_each(@pairs)"
	if models.IsPostgres(tx) {
		elements = `SELECT CAST(value ->> 0 AS bigint) AS id, CAST(value ->> 1 AS bigint) AS attempt
			FROM jsonb_array_elements(CAST(@pairs AS jsonb))`
	}
	values["pairs"] = string(text)
	return tx.Exec("UPDATE deliveries SET "+set+" FROM ("+elements+`) AS named
		WHERE deliveries.id = named.id AND deliveries.attempt = named.attempt AND deliveries.outcome = ''`, values).Error
}

// chooseRetry chooses when a delivery whose attempt failed is tried again, and returns its new columns. It ends
// a delivery that has no retry left, and one whose endpoint answered 410 Gone.
func chooseRetry(row models.Delivery, r result, now time.Time) map[string]any {
	set := map[string]any{"last_status": r.status, "last_error": r.problem, "last_code": string(r.code),
		"tries": row.Tries + 1}
	end := func(outcome string) map[string]any {
		set["done_at"], set["outcome"] = now, outcome
		return set
	}
	if r.status == http.StatusGone {
		return end(webhook.Cancelled)
	}
	wait, left := retrySchedule.Next(row.Tries)
	if !left {
		return end(webhook.Exhausted)
	}
	set["due_at"] = now.Add(max(outbox.JitterWait(wait), outbox.AddLater(r.retryAfter)))
	return set
}

// noteOutcomes notes which endpoints took a delivery and which failed.
func (s *Sender) noteOutcomes(tx *models.Tx, group []*settlement) error {
	var good []string
	bad := map[string]settlement{}
	for _, one := range group {
		id := one.row.EndpointID
		switch {
		case !one.judge, one.result.ours:
		case one.result.problem == "":
			good = append(good, id)
		case bad[id].result.status != http.StatusGone:
			bad[id] = *one
		}
	}
	slices.Sort(good)
	if err := s.Endpoints.RecordSuccesses(tx, slices.Compact(good)); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(bad)) { // two replicas that lock in one order don't wait for each other
		failed := bad[id]
		if err := s.Endpoints.RecordFailure(tx, id, failed.url, failed.result.status == http.StatusGone); err != nil {
			return err
		}
	}
	return nil
}
