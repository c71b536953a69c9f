package delivery

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/models"
	"cointill/models/modelstest"
)

// settlements is a service with a fake clock, whose settlements are made by the test.
type settlements struct {
	*Sender
	t     *testing.T
	clock *clock.Fake
	woken int // how often mails were
}

func newSettlements(t *testing.T, db *models.DB) *settlements {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := &settlements{t: t, clock: now, Sender: &Sender{DB: db, Clock: now.Now,
		Endpoints: &webhook.Service{DB: db, Clock: now.Now}}}
	s.Endpoints.WakeMails = func() { s.woken++ }
	return s
}

// insert stores rows.
func (s *settlements) insert(rows ...any) {
	s.t.Helper()
	for _, row := range rows {
		if err := s.DB.Exec(s.t.Context()).Create(row).Error; err != nil {
			s.t.Fatal(err)
		}
	}
}

// addEndpoint stores an endpoint that has failed since a time, which may be nil.
func (s *settlements) addEndpoint(id string, active bool, failingSince, failedAt *time.Time) {
	s.t.Helper()
	s.insert(&models.Endpoint{ID: id, BusinessID: 1, Domain: "test", URL: "https://" + id, Active: active,
		Secret: []byte{1}, FailingSince: failingSince, FailedAt: failedAt, CreatedAt: s.Clock(), UpdatedAt: s.Clock()})
}

// answered is what became of the first attempt of a new delivery to an endpoint.
func (s *settlements) answered(endpointID string, status int) *settlement {
	s.t.Helper()
	claimed := s.Clock()
	event := fmt.Sprint("evt_", s.count(&models.Delivery{})+1)
	row := models.Delivery{EventID: event, EndpointID: endpointID, BusinessID: 1, Domain: "test", Attempt: 1,
		DueAt: claimed.Add(leaseFor), ClaimedAt: &claimed, CreatedAt: claimed}
	s.insert(&row)
	one := &settlement{row: row, url: "https://" + endpointID, sent: true, began: claimed, judge: true,
		result: result{status: status, problem: diagnose.DescribeStatus(status).String()}, done: make(chan error, 1)}
	if one.result.problem != "" {
		one.set = chooseRetry(row, one.result, s.Clock())
	}
	return one
}

// endpointRow reads an endpoint.
func (s *settlements) endpointRow(id string) (row models.Endpoint) {
	s.t.Helper()
	if err := s.DB.Read(s.t.Context()).Where("id = ?", id).Take(&row).Error; err != nil {
		s.t.Fatal(err)
	}
	return row
}

// deliveryRow reads the delivery of a settlement.
func (s *settlements) deliveryRow(of *settlement) (row models.Delivery) {
	s.t.Helper()
	if err := s.DB.Read(s.t.Context()).Where("id = ?", of.row.ID).Take(&row).Error; err != nil {
		s.t.Fatal(err)
	}
	return row
}

// count counts the rows of a table.
func (s *settlements) count(model any) (n int64) {
	s.t.Helper()
	if err := s.DB.Read(s.t.Context()).Model(model).Count(&n).Error; err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestEachSettlementChangesItsOwn: of settlements in one transaction each changes its own
// delivery and judges its own endpoint, by its own answer.
func TestEachSettlementChangesItsOwn(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		before, now := s.Clock(), s.Clock().Add(time.Hour)
		cases := []struct {
			id           string
			active       bool       // before
			failingSince *time.Time // before
			status       int        // 0: nothing is settled
			change       func(*settlement)
			wantActive   bool
			wantFailing  *time.Time
			wantOutcome  string
		}{
			{"a bystander", true, &before, 0, nil, true, &before, ""},
			{"b delivered", true, &before, 200, nil, true, nil, webhook.Delivered},
			{"c delivered with another status", true, &before, 204, nil, true, nil, webhook.Delivered},
			{"d failed", true, nil, 500, nil, true, &now, ""},
			{"e failed again", true, &before, 500, nil, true, &before, ""},
			{"f gone", true, nil, 410, nil, false, &now, webhook.Cancelled},
			{"g gone at a former address", true, nil, 410, func(o *settlement) { o.url = "https://a" }, true, nil, webhook.Cancelled},
			{"h stopped", true, nil, 500, func(o *settlement) { o.judge = false }, true, nil, ""},
			{"i cancelled", true, &before, 200, func(o *settlement) {
				o.sent, o.judge, o.set = false, false, map[string]any{"done_at": now, "outcome": webhook.Cancelled}
			}, true, &before, webhook.Cancelled},
			{"j gone though off", false, &before, 410, nil, false, &before, webhook.Cancelled},
		}
		for _, c := range cases {
			s.addEndpoint(c.id, c.active, c.failingSince, c.failingSince)
		}
		s.clock.Advance(time.Hour)
		group := []*settlement{s.answered("deleted meanwhile", 500)}
		made := map[string]*settlement{}
		for _, c := range cases {
			if c.status != 0 {
				made[c.id] = s.answered(c.id, c.status)
				if c.change != nil {
					c.change(made[c.id])
				}
				group = append(group, made[c.id])
			}
		}
		group = append(group, s.answered("f gone", 500)) // another answer than the one that counts
		if err := s.recordGroup(t.Context(), group); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if e := s.endpointRow(c.id); e.Active != c.wantActive || !sameTime(e.FailingSince, c.wantFailing) {
				t.Errorf("endpoint %q is active: %v, failing since %v; want %v, %v",
					c.id, e.Active, e.FailingSince, c.wantActive, c.wantFailing)
			}
			if c.status != 0 {
				if d := s.deliveryRow(made[c.id]); d.Outcome != c.wantOutcome {
					t.Errorf("delivery to %q has the outcome %q, want %q", c.id, d.Outcome, c.wantOutcome)
				}
			}
		}
		requests := int64(len(group) - 1) // one was cancelled without
		n, noted := s.count(&models.Audit{}), s.count(&models.DeliveryAttempt{})
		if n != 1 || s.woken != 1 || noted != requests {
			t.Errorf("%d audit entries, mails woken %d times, %d attempts; want 1, 1, %d", n, s.woken, noted, requests)
		}
	})
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// TestDoneDeliveryIsNotReopened: an answer that comes after a delivery was cancelled is
// noted, and the delivery stays cancelled; nor is it given back.
func TestDoneDeliveryIsNotReopened(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		group := []*settlement{s.answered("delivered", 200), s.answered("failed", 500)}
		done := map[string]any{"done_at": s.Clock(), "claimed_at": nil, "outcome": webhook.Cancelled, "last_error": "Deleted."}
		if err := db.Exec(t.Context()).Model(&models.Delivery{}).Where("id > 0").Updates(done).Error; err != nil {
			t.Fatal(err)
		}
		before := modelstest.ReadRows(t, db, "deliveries")
		s.clock.Advance(time.Minute)
		if err := s.recordGroup(t.Context(), group); err != nil {
			t.Fatal(err)
		}
		rows := []models.Delivery{group[0].row, group[1].row}
		if err := (deliverer{Sender: s.Sender}).Return(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		if after := modelstest.ReadRows(t, db, "deliveries"); after != before || s.count(&models.DeliveryAttempt{}) != 2 {
			t.Errorf("%d attempts are noted, want 2; the deliveries are\n%s\nwant\n%s",
				s.count(&models.DeliveryAttempt{}), after, before)
		}
	})
}

// TestFailedStatementUndoesSettlement: when a statement of a settlement fails, its error
// is returned, no row has changed and no mail is announced.
func TestFailedStatementUndoesSettlement(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		before := s.Clock().Add(-time.Hour)
		group := []*settlement{}
		for id, status := range map[string]int{"a": 200, "b": 204, "c": 410, "d": 404} {
			s.addEndpoint(id, true, &before, &before)
			group = append(group, s.answered(id, status))
		}
		s.insert(&models.Delivery{EventID: "evt_waits", EndpointID: "c", BusinessID: 1, Domain: "test",
			DueAt: s.Clock(), CreatedAt: s.Clock()})
		rows := modelstest.ReadRows(t, db, "endpoints", "endpoint_pauses", "deliveries", "delivery_attempts", "audits")
		modelstest.FailStatements(t, db, func() error {
			err := s.recordGroup(t.Context(), group)
			if err == nil {
				return nil
			}
			after := modelstest.ReadRows(t, db, "endpoints", "endpoint_pauses", "deliveries", "delivery_attempts", "audits")
			if after != rows || s.woken != 0 {
				t.Errorf("after %v mails were woken %d times, want 0; the rows are\n%s\nwant\n%s", err, s.woken, after, rows)
			}
			return err
		})
		if s.woken != 1 {
			t.Errorf("mails were woken %d times, want once", s.woken)
		}
	})
}

// TestGroupIsWrittenOnce: a group's attempts are written in few statements, and only
// once: again, one by one, only after the database refused several together.
func TestGroupIsWrittenOnce(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		created := 0
		callbacks := db.Exec(t.Context()).Callback().Create()
		err := callbacks.Before("*").Register("test:count", func(tx *gorm.DB) {
			if tx.Statement.Table == "delivery_attempts" {
				created++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		groupOf := func(n int, refused bool) (group []*settlement) {
			for range n {
				one := s.answered("whk_1", 500)
				if refused {
					one.set = map[string]any{"no_such_column": 1}
				}
				group = append(group, one)
			}
			return group
		}
		for _, c := range []struct {
			name  string
			group []*settlement
			want  int
		}{
			{"20 settlements", groupOf(20, false), 2}, // 16 and 4
			{"one that is refused", groupOf(1, true), 1},
			{"two that are refused", groupOf(2, true), 4}, // two in the group's transaction, then one in each of their own
		} {
			created = 0
			newSettler(s.Sender).settleGroup(c.group)
			if created != c.want {
				t.Errorf("%s: %d statements for attempts, want %d", c.name, created, c.want)
			}
		}
	})
}
