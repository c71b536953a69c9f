package delivery_test

import (
	"fmt"
	"testing"
	"time"

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

// pausesOf returns an endpoint's pauses, oldest first.
func (b *bundle) pausesOf(id string) (rows []models.EndpointPause) {
	b.t.Helper()
	b.must(b.DB.Read(b.t.Context()).Where("endpoint_id = ?", id).Order("since, id").Find(&rows).Error)
	return rows
}

// TestPauseBegins: a pause begins when the endpoint is switched off, or when the oldest of
// what waits was queued, but not before the end of the pause before.
func TestPauseBegins(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		at := func(hour int) time.Time { return start.Add(time.Duration(hour) * time.Hour) }
		until := func(hour int) *time.Time { end := at(hour); return &end }
		other, _ := b.create(owner, "https://other.example/")
		b.insert(&models.EndpointPause{EndpointID: other.ID, Since: at(1), Until: until(7)},
			&models.Delivery{EventID: "evt_0", EndpointID: other.ID, BusinessID: 1, Domain: "test",
				DueAt: at(1), CreatedAt: at(1)})
		type pauses = []models.EndpointPause
		cases := []struct {
			name    string
			waiting []int  // when what waits was queued
			before  pauses // earlier pauses
			want    int
		}{
			{"nothing waits", nil, nil, 8},
			{"something waits since before", []int{6, 4, 5}, nil, 4},
			{"something waits, the last pause ended before", []int{4}, pauses{{Since: at(2), Until: until(3)}}, 4},
			{"something waits since the last pause", []int{4}, pauses{{Since: at(2), Until: until(5)}}, 5},
			{"it waits since before the last but one", []int{1},
				pauses{{Since: at(2), Until: until(3)}, {Since: at(4), Until: until(5)}}, 5},
			{"nothing waits, there was a pause", nil, pauses{{Since: at(2), Until: until(3)}}, 8},
			{"the last pause was never ended", []int{4}, pauses{{Since: at(2)}}, 4},
		}
		var made []webhook.Endpoint
		for i, c := range cases {
			e, _ := b.create(owner, "https://shop.example/")
			made = append(made, e)
			for _, hour := range c.waiting {
				b.insert(&models.Delivery{EventID: fmt.Sprint("evt_", i, "_", hour), EndpointID: e.ID,
					BusinessID: 1, Domain: "test", DueAt: at(9), CreatedAt: at(hour)})
			}
			for _, pause := range c.before {
				pause.EndpointID = e.ID
				b.insert(&pause)
			}
		}
		b.clock.Advance(8 * time.Hour)
		for i, c := range cases {
			b.toggle(made[i].ID, false)
			all := b.pausesOf(made[i].ID)
			last, want := all[len(all)-1], at(c.want)
			if len(all) != len(c.before)+1 || !last.Since.Equal(want) || last.Until != nil {
				t.Errorf("%s: %d pauses, the last %+v, want %d, since %s", c.name, len(all), last, len(c.before)+1, want)
			}
			if m, err := b.deliveries.Missed(t.Context(), owner, made[i].ID); err != nil || !m.Since.Equal(at(c.want)) {
				t.Errorf("%s: missed %+v, %v, want it since %s", c.name, m, err, at(c.want))
			}
		}
	})
}

// TestCreatedInactiveIsPaused: an endpoint that is registered inactive misses events from
// then on.
func TestCreatedInactiveIsPaused(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _, err := b.Create(t.Context(), owner, webhook.Create{Name: "orders", URL: "https://shop.example/"})
		b.must(err)
		b.emit(1)
		m, err := b.deliveries.Missed(t.Context(), owner, e.ID)
		if err != nil || m.Count != 1 || !m.Since.Equal(start) || m.Until != nil {
			t.Errorf("missed %+v, %v, want one event since %s", m, err, start)
		}
	})
}

// TestSwitchingOffForgivesNothing: failures are forgiven when an endpoint is switched on.
func TestSwitchingOffForgivesNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, status(500)).URL)
		b.emit(1)
		b.step()
		for _, c := range []struct{ active, failing bool }{{false, true}, {true, false}} {
			if e := b.toggle(e.ID, c.active); (e.FailingSince != nil) != c.failing {
				t.Errorf("switched to active %v it is failing since %v, want it failing: %v", c.active, e.FailingSince, c.failing)
			}
		}
	})
}
