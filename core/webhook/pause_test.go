package webhook_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// insert stores rows as they are.
func (b *bundle) insert(rows ...any) {
	b.t.Helper()
	for _, row := range rows {
		if err := b.DB.Exec(b.t.Context()).Create(row).Error; err != nil {
			b.t.Fatal(err)
		}
	}
}

// rowsOf returns an endpoint's row, pauses and deliveries as text.
func (b *bundle) rowsOf(id string) string {
	b.t.Helper()
	var rows struct {
		Endpoints  []models.Endpoint
		Pauses     []models.EndpointPause
		Deliveries []models.Delivery
	}
	db := b.DB.Read(b.t.Context())
	b.must(db.Where("id = ?", id).Find(&rows.Endpoints).Error)
	b.must(db.Where("endpoint_id = ?", id).Order("id").Find(&rows.Pauses).Error)
	b.must(db.Where("endpoint_id = ?", id).Order("id").Find(&rows.Deliveries).Error)
	text, err := json.MarshalIndent(rows, "", " ")
	b.must(err)
	return string(text)
}

// pausesOf returns an endpoint's pauses, oldest first.
func (b *bundle) pausesOf(id string) (rows []models.EndpointPause) {
	b.t.Helper()
	b.must(b.DB.Read(b.t.Context()).Where("endpoint_id = ?", id).Order("since, id").Find(&rows).Error)
	return rows
}

// TestChangeLeavesOtherEndpoints: what is done with one endpoint changes no row of another
// one of the business, of its other domain, or of another business, on or off.
func TestChangeLeavesOtherEndpoints(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx, name := t.Context(), "renamed"
		var others []webhook.Endpoint
		for _, sc := range append([]scope.Scope{owner}, strangers...) {
			for _, on := range []bool{true, false} {
				e, _ := b.create(sc, "https://shop.example/")
				others = append(others, e)
				for _, to := range []bool{false, true, on} { // which leaves pauses that have ended, and one that lasts
					b.clock.Advance(time.Minute)
					_, err := b.Update(ctx, sc, e.ID, webhook.Change{Active: &to})
					b.must(err)
				}
			}
			b.emit(sc, 0)
		}
		e, _ := b.create(owner, "https://shop.example/")
		b.emit(owner, 1)
		b.clock.Advance(time.Hour)
		before := map[string]string{}
		for _, other := range others {
			before[other.ID] = b.rowsOf(other.ID)
		}
		for _, act := range []struct {
			name string
			do   func() error
		}{
			{"switching off", func() error { b.toggle(e.ID, false); return nil }},
			{"switching on", func() error { b.toggle(e.ID, true); return nil }},
			{"renaming", func() error { _, err := b.Update(ctx, owner, e.ID, webhook.Change{Name: &name}); return err }},
			{"rotating", func() error { _, _, err := b.RotateSecret(ctx, owner, e.ID); return err }},
			{"deleting", func() error { return b.Delete(ctx, owner, e.ID) }},
		} {
			own := b.rowsOf(e.ID)
			b.must(act.do())
			if b.rowsOf(e.ID) == own {
				t.Errorf("%s changes nothing of the endpoint itself", act.name)
			}
			for _, other := range others {
				if after := b.rowsOf(other.ID); after != before[other.ID] {
					t.Errorf("%s changes another endpoint's rows to\n%s\nwant\n%s", act.name, after, before[other.ID])
				}
			}
			b.clock.Advance(time.Minute)
		}
	})
}

// TestSwitchingTwiceIsOnce: what is off is not switched off again, nor what is on switched
// on; the pause keeps its beginning and its end.
func TestSwitchingTwiceIsOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		b.clock.Advance(time.Hour)
		for _, active := range []bool{true, false, false, true, true, false, true} { // an hour apart
			b.toggle(e.ID, active)
			b.clock.Advance(time.Hour)
		}
		got := ""
		for _, pause := range b.pausesOf(e.ID) {
			got += fmt.Sprintf("%s to %s; ", pause.Since.Sub(start), pause.Until.Sub(start))
		}
		if want := "2h0m0s to 4h0m0s; 6h0m0s to 7h0m0s; "; got != want {
			t.Errorf("paused %s, want %s", got, want)
		}
	})
}

// TestPauseCancelsWhatWaits: switching off cancels what waits, and attempts whose lease has
// ended; what is under way or done stays as it is, however much of it there is.
func TestPauseCancelsWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		now, claimed, later := b.clock.Now(), start.Add(-time.Minute), start.Add(24*time.Hour)
		leased, over := start.Add(time.Microsecond), start.Add(-time.Microsecond)
		cases := []struct {
			name string
			row  models.Delivery
			want string // the outcome; "" while it is open
		}{
			{"waits for its first attempt", models.Delivery{DueAt: now}, webhook.Cancelled},
			{"waits for its second attempt", models.Delivery{DueAt: later, Attempt: 1, Tries: 1}, webhook.Cancelled},
			{"under way", models.Delivery{DueAt: leased, ClaimedAt: &claimed, Attempt: 1}, ""},
			{"its lease ends now", models.Delivery{DueAt: now, ClaimedAt: &claimed, Attempt: 1}, webhook.Cancelled},
			{"its lease has ended", models.Delivery{DueAt: over, ClaimedAt: &claimed, Attempt: 1}, webhook.Cancelled},
			{"delivered", models.Delivery{DueAt: over, DoneAt: &over, Outcome: webhook.Delivered}, webhook.Delivered},
			{"exhausted", models.Delivery{DueAt: over, DoneAt: &over, Outcome: webhook.Exhausted}, webhook.Exhausted},
		}
		fill := func(from int, row models.Delivery) {
			row.EndpointID, row.BusinessID, row.Domain, row.CreatedAt = e.ID, 1, "test", start.Add(-time.Hour)
			rows := make([]models.Delivery, 1000)
			for i := range rows {
				rows[i] = row
				rows[i].EventID = fmt.Sprint("evt_", from+i)
			}
			b.must(b.DB.Exec(t.Context()).CreateInBatches(&rows, 50).Error)
		}
		fill(1000, models.Delivery{DueAt: over, DoneAt: &claimed, Outcome: webhook.Delivered})
		fill(2000, models.Delivery{DueAt: leased, ClaimedAt: &claimed, Attempt: 1})
		for i, c := range cases {
			c.row.EventID = fmt.Sprint("evt_", i)
			c.row.EndpointID, c.row.BusinessID, c.row.Domain, c.row.CreatedAt = e.ID, 1, "test", now
			b.insert(&c.row)
		}
		b.toggle(e.ID, false)
		for i, c := range cases {
			var row models.Delivery
			b.must(b.DB.Read(t.Context()).Where("event_id = ?", fmt.Sprint("evt_", i)).Take(&row).Error)
			if row.Outcome != c.want || (row.DoneAt == nil) != (c.want == "") || (row.ClaimedAt != nil) != (c.want == "") {
				t.Errorf("a delivery that %s becomes %+v, want the outcome %q", c.name, row, c.want)
			}
		}
	})
}
