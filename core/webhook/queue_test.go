package webhook

import (
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestQueueAgain: what is queued again, by a redelivery, a resend of all, and a resend of
// what failed: nothing that is under way or that a resend would not bring sooner.
func TestQueueAgain(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		claimed := now.Add(-time.Minute)
		over, leased, later := now.Add(-time.Microsecond), now.Add(time.Microsecond), now.Add(time.Hour)
		orders := []struct {
			name  string
			order models.Resend
		}{
			{"redelivery", models.Resend{}}, {"resend", models.Resend{ID: "rsd_1"}},
			{"resend of what failed", models.Resend{ID: "rsd_2", Failed: true}},
		}
		all, none, first, resent := [3]bool{true, true, true}, [3]bool{}, [3]bool{true}, [3]bool{true, true, false}
		cases := []struct {
			name string
			row  models.Delivery
			want [3]bool // whether each of them queues it
		}{
			{"delivered", models.Delivery{DueAt: over, DoneAt: &over, Outcome: Delivered}, resent},
			{"delivered at last", models.Delivery{DueAt: over, DoneAt: &over, Outcome: Delivered, Tries: 1}, resent},
			{"exhausted", models.Delivery{DueAt: over, DoneAt: &over, Outcome: Exhausted, Tries: 10}, all},
			{"cancelled before its first attempt", models.Delivery{DueAt: over, DoneAt: &over, Outcome: Cancelled}, all},
			{"waiting for its first attempt", models.Delivery{DueAt: later}, first},
			{"waiting for its second attempt", models.Delivery{DueAt: later, Tries: 1}, all},
			{"under way", models.Delivery{DueAt: leased, ClaimedAt: &claimed}, none},
			{"under way again", models.Delivery{DueAt: leased, ClaimedAt: &claimed, Tries: 1}, none},
			{"under way until now", models.Delivery{DueAt: now, ClaimedAt: &claimed, Tries: 1}, all},
			{"under way until a moment ago", models.Delivery{DueAt: over, ClaimedAt: &claimed, Tries: 1}, all},
			{"under way for the first time until a moment ago", models.Delivery{DueAt: over, ClaimedAt: &claimed}, first},
		}
		for i, by := range orders {
			for _, c := range cases {
				event := models.Event{ID: by.name + c.name, BusinessID: 1, Domain: "test"}
				row := c.row
				row.EventID, row.EndpointID, row.BusinessID, row.Domain = event.ID, "whk_1", 1, "test"
				row.CreatedAt, row.Attempt = over, 3
				if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
					t.Fatal(err)
				}
				var n int
				err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
					n, err = QueueDeliveries(tx, now, []models.Delivery{NewDelivery(event, "whk_1", by.order.ID, now)}, by.order)
					return err
				})
				var is models.Delivery
				if err := db.Read(t.Context()).Where("id = ?", row.ID).Take(&is).Error; err != nil {
					t.Fatal(err)
				}
				queued := is.Outcome == "" && is.DoneAt == nil && is.ClaimedAt == nil && is.DueAt.Equal(now) && is.Tries == 0
				unchanged := is.Outcome == row.Outcome && is.Tries == row.Tries && is.DueAt.Equal(row.DueAt) &&
					sameTime(is.DoneAt, row.DoneAt) && sameTime(is.ClaimedAt, row.ClaimedAt)
				if err != nil || n == 1 != c.want[i] || c.want[i] && !queued || !c.want[i] && !unchanged || is.Attempt != 3 {
					t.Errorf("a %s of one that is %s: %d queued, %v, and it becomes %+v; want it queued: %v",
						by.name, c.name, n, err, is, c.want[i])
				}
			}
		}
	})
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
