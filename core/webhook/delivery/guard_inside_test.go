package delivery

import (
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestMostOfAnOrder counts 100,000 events and refuses one more. They are counted
// without being stored, which would take long.
func TestMostOfAnOrder(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		made := func(n int) *models.Tx {
			return db.Read(t.Context()).Table("(?) AS made", db.Read(t.Context()).Raw(
				"WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?) SELECT id FROM n", n))
		}
		if n, err := countEvents(db.Read(t.Context()), made(MaxResend)); n != MaxResend || err != nil {
			t.Errorf("countEvents(db.Read(t.Context()), made(MaxResend)): n = %v, err = %v", n, err)
		}
		if n, err := countEvents(db.Read(t.Context()), made(MaxResend+1)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("countEvents(db.Read(t.Context()), made(MaxResend+1)): n = %v, err = %v", n, err)
		}
	})
}

// TestOneRefusedAmongMany: a settlement that the database refuses doesn't cost
// those that were to share its transaction.
func TestOneRefusedAmongMany(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		g := newSettler(&Sender{DB: db, Clock: now.Now, Endpoints: &webhook.Service{DB: db, Clock: now.Now}})
		var group []*settlement
		for i, set := range []map[string]any{nil, {"no_such_column": 1}, {"done_at": now.Now(), "outcome": webhook.Exhausted}} {
			row := models.Delivery{EventID: string(rune('a' + i)), EndpointID: "whk_1", BusinessID: 1, Domain: "test", Attempt: 1, DueAt: now.Now(), CreatedAt: now.Now()}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			group = append(group, &settlement{row: row, sent: true, began: now.Now(), result: result{status: 200}, set: set, done: make(chan error, 1)})
		}
		g.settleGroup(group)
		for i, want := range []string{webhook.Delivered, "", webhook.Exhausted} {
			var row models.Delivery
			var noted int64
			if err := db.Read(t.Context()).Where("id = ?", group[i].row.ID).Take(&row).Error; err != nil {
				t.Fatal(err)
			}
			db.Read(t.Context()).Model(&models.DeliveryAttempt{}).Where("delivery_id = ?", row.ID).Count(&noted)
			if err := <-group[i].done; (err == nil) != (want != "") || row.Outcome != want || (noted == 1) != (want != "") {
				t.Errorf("%d: %v, %+v, %d attempts noted", i, err, row, noted)
			}
		}
	})
}

// TestLeaseLost (WH-10): who held a lease that has ended settles nothing, and gives
// nothing back, of a delivery that another has claimed since. What it sent is noted.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		s := &Sender{DB: db, Clock: now.Now, Endpoints: &webhook.Service{DB: db, Clock: now.Now}}
		old := models.Delivery{EventID: "evt_1", EndpointID: "whk_1", BusinessID: 1, Domain: "test", Attempt: 1, DueAt: now.Now(), CreatedAt: now.Now()}
		lease, claimed := now.Now().Add(leaseFor), now.Now()
		other := old
		other.Attempt, other.DueAt, other.ClaimedAt = 2, lease, &claimed
		if err := db.Exec(t.Context()).Create(&other).Error; err != nil {
			t.Fatal(err)
		}
		old.ID = other.ID
		now.Advance(time.Second)
		unchanged := func(by string, err error) {
			t.Helper()
			var is models.Delivery
			if again := db.Read(t.Context()).Take(&is).Error; err != nil || again != nil {
				t.Fatalf("db.Read(t.Context()).Take(&is).Error: err = %v, again = %v", err, again)
			}
			if is.Attempt != 2 || is.Outcome != "" || is.DoneAt != nil || is.LastStatus != 0 || is.ClaimedAt == nil || !is.DueAt.Equal(lease) {
				t.Errorf("%s, it has become %+v", by, is)
			}
		}
		for by, set := range map[string]map[string]any{"delivered": nil, "failed": {"due_at": now.Now()}} {
			unchanged(by, s.recordGroup(t.Context(), []*settlement{{row: old, sent: true, began: now.Now(), result: result{status: 200}, set: set}}))
		}
		unchanged("given back", deliverer{Sender: s}.Return(t.Context(), []models.Delivery{old}))
		var noted []models.DeliveryAttempt
		if err := db.Read(t.Context()).Find(&noted).Error; err != nil || len(noted) != 1 || noted[0].Attempt != 1 {
			t.Errorf("noted are %+v, %v", noted, err)
		}
	})
}
