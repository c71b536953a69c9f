package webhook

import (
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
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
			t.Error(n, err)
		}
		if n, err := countEvents(db.Read(t.Context()), made(MaxResend+1)); fault.KindOf(err) != fault.Invalid {
			t.Error(n, err)
		}
	})
}

// TestOneRefusedAmongMany: a settlement that the database refuses doesn't cost
// those that were to share its transaction.
func TestOneRefusedAmongMany(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		g := newSettler(&Service{DB: db, Clock: now.Now})
		var group []*settlement
		for i, set := range []map[string]any{nil, {"no_such_column": 1}, {"done_at": now.Now(), "outcome": Exhausted}} {
			row := models.Delivery{EventID: string(rune('a' + i)), EndpointID: "whk_1", BusinessID: 1, Domain: "test", Attempt: 1, DueAt: now.Now(), CreatedAt: now.Now()}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			group = append(group, &settlement{row: row, sent: true, began: now.Now(), result: result{status: 200}, set: set, done: make(chan error, 1)})
		}
		g.settle(group)
		for i, want := range []string{Delivered, "", Exhausted} {
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
