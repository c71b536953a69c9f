package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// addPause stores a pause of an endpoint from one time to another.
func (b *bundle) addPause(endpointID string, since, until time.Time) {
	b.t.Helper()
	b.insert(&models.EndpointPause{EndpointID: endpointID, Since: since, Until: &until})
}

// addEvent stores an event of business 1 without deliveries.
func (b *bundle) addEvent(id, kind string, at time.Time) {
	b.t.Helper()
	b.insert(&models.Event{ID: id, BusinessID: 1, Domain: "test", Number: at.UnixMicro(), Type: kind, Body: "{}",
		CreatedAt: at})
}

// addDelivery stores a delivery of an event that was or wasn't done.
func (b *bundle) addDelivery(eventID, endpointID, outcome string) {
	b.t.Helper()
	now := b.clock.Now()
	row := models.Delivery{EventID: eventID, EndpointID: endpointID, BusinessID: 1, Domain: "test",
		DueAt: now, CreatedAt: now, Outcome: outcome}
	if outcome != "" {
		row.DoneAt = &now
	}
	b.insert(&row)
}

// endpointOf registers an endpoint of some types, a day before now.
func (b *bundle) endpointOf(types ...string) webhook.Endpoint {
	b.t.Helper()
	c := webhook.Create{Name: "orders", URL: "https://shop.example/", Active: true, Types: types}
	e, _, err := b.Create(b.t.Context(), owner, c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.clock.Advance(24 * time.Hour)
	return e
}

// TestMissedAreEventsOfThePause: missed is what was made from 5 seconds before a pause to 5
// seconds after it, is of the endpoint's types, and is neither delivered nor under way;
// skipped is what was never queued of it.
func TestMissedAreEventsOfThePause(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e := b.endpointOf(webhook.PaymentSuccessful, webhook.PaymentExpired)
		since := b.clock.Now()
		until := since.Add(time.Hour)
		b.clock.Advance(2 * time.Hour)
		b.addPause(e.ID, since, until)
		other := b.endpointOf()
		b.addPause(other.ID, since.Add(-time.Hour), until.Add(time.Hour))
		const slack, tick, none = 5 * time.Second, time.Microsecond, "no delivery"
		missed, skipped := 0, []string{}
		for i, c := range []struct {
			at        time.Time
			kind      string
			delivery  string
			isMissed  bool
			isSkipped bool
		}{
			{since.Add(-slack - tick), webhook.PaymentSuccessful, none, false, false},
			{since.Add(-slack), webhook.PaymentSuccessful, none, true, true},
			{since.Add(-slack), webhook.PaymentSuccessful, none, true, true}, // of the same moment
			{since.Add(time.Minute), webhook.PaymentExpired, none, true, true},
			{since.Add(time.Minute), webhook.PaymentAbandoned, none, false, false}, // of another type
			{since.Add(time.Minute), webhook.WebhookTest, none, false, false},
			{since.Add(time.Minute), webhook.PaymentSuccessful, webhook.Delivered, false, false},
			{since.Add(time.Minute), webhook.PaymentSuccessful, "", false, false}, // waits
			{since.Add(time.Minute), webhook.PaymentSuccessful, webhook.Cancelled, true, false},
			{since.Add(time.Minute), webhook.PaymentSuccessful, webhook.Exhausted, true, false},
			{until.Add(slack), webhook.PaymentSuccessful, none, true, true},
			{until.Add(slack + tick), webhook.PaymentSuccessful, none, false, false},
			{until.Add(time.Minute), webhook.PaymentSuccessful, webhook.Exhausted, false, false},
		} {
			id := fmt.Sprintf("evt_%02d", i)
			b.addEvent(id, c.kind, c.at)
			if c.delivery != none {
				b.addDelivery(id, e.ID, c.delivery)
			}
			if c.isMissed {
				missed++
			}
			if c.isSkipped {
				skipped = append(skipped, id)
			}
		}
		slices.Reverse(skipped)
		m, err := b.deliveries.Missed(t.Context(), owner, e.ID)
		if err != nil || m.Count != missed || !m.Since.Equal(since) || !m.Until.Equal(until) {
			t.Errorf("missed %+v, %v, want %d from %s to %s", m, err, missed, since, until)
		}
		for _, page := range []int{1, 2, 100} {
			if got := b.history(e.ID, webhook.Skipped, page); !slices.Equal(got, skipped) {
				t.Errorf("skipped, %d to a page: %v, want %v", page, got, skipped)
			}
		}
	})
}

// TestMissedForAWeek: what pauses missed is told for a week after the end of each.
func TestMissedForAWeek(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.clock.Advance(20 * 24 * time.Hour)
		for i, c := range []struct {
			name  string
			ended []time.Duration // how long ago, latest first
			want  int
		}{
			{"a week ago", []time.Duration{recentPause}, 1},
			{"longer ago", []time.Duration{recentPause + time.Microsecond}, 0},
			{"today and a week ago", []time.Duration{time.Hour, recentPause}, 2},
			{"today and longer ago", []time.Duration{time.Hour, recentPause + time.Microsecond}, 1},
		} {
			types := webhook.Types()[i]
			e := b.endpointOf(types)
			b.must(b.DB.Exec(t.Context()).Model(&models.Endpoint{}).Where("id = ?", e.ID).Update("created_at", start).Error)
			for n, ago := range c.ended {
				until := b.clock.Now().Add(-ago)
				b.addPause(e.ID, until.Add(-time.Minute), until)
				b.addEvent(fmt.Sprint("evt_", i, n), types, until.Add(-30*time.Second))
			}
			if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != c.want {
				t.Errorf("pauses that ended %s: missed %+v, %v, want %d events", c.name, m, err, c.want)
			}
		}
	})
}

const recentPause = 7 * 24 * time.Hour

// TestMissedSince: missed events are told from the first pause on in which there were any,
// and no longer back than they can be sent; as far as they are counted.
func TestMissedSince(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e := b.endpointOf(webhook.PaymentSuccessful)
		first := b.clock.Now()
		b.addPause(e.ID, first, first.Add(time.Hour))
		latest := first.Add(24 * time.Hour)
		b.addPause(e.ID, latest, latest.Add(time.Hour))
		b.clock.Advance(26 * time.Hour)
		check := func(name string, since time.Time, count int, more bool) {
			t.Helper()
			if m, err := b.deliveries.Missed(ctx, owner, e.ID); err != nil || !m.Since.Equal(since) || m.Count != count || m.More != more {
				t.Errorf("%s: missed %+v, %v, want %d since %s, more: %v", name, m, err, count, since, more)
			}
		}
		check("nothing missed", latest, 0, false)
		b.addEvent("evt_b", webhook.PaymentSuccessful, latest.Add(time.Minute))
		check("missed in the latest pause", latest, 1, false)
		b.addEvent("evt_a", webhook.PaymentSuccessful, first.Add(time.Minute))
		check("missed in both", first, 2, false)
		b.multiply("evt_b", delivery.MaxMissed)
		check("missed more in the latest than is counted", latest, delivery.MaxMissed, true)

		off := b.endpointOf(webhook.PaymentExpired)
		b.toggle(off.ID, false)
		b.clock.Advance(delivery.KeepBodies + 24*time.Hour)
		sendable := b.clock.Now().Add(time.Hour - delivery.KeepBodies)
		if m, err := b.deliveries.Missed(ctx, owner, off.ID); err != nil || m.Count != 0 || !m.Since.Equal(sendable) {
			t.Errorf("off for 61 days: missed %+v, %v, want none since an hour less than 60 days", m, err)
		}
		for _, pauses := range []int{99, 100} {
			e := b.endpointOf(webhook.PaymentDeclined)
			for i := range pauses {
				since := b.clock.Now().Add(-time.Duration(i+1) * time.Minute)
				b.addPause(e.ID, since, since.Add(time.Second))
			}
			if m, err := b.deliveries.Missed(ctx, owner, e.ID); err != nil || m.Count != 0 || m.More != (pauses == 100) {
				t.Errorf("%d pauses: missed %+v, %v, want none, and perhaps more from 100 pauses on", pauses, m, err)
			}
		}
	})
}

// TestHistoryEnds: the pages of what was skipped end, each event on one of them, also where
// many pauses and events share a moment.
func TestHistoryEnds(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		b.clock.Advance(24 * time.Hour)
		for i := range 100 { // within the slack of the endpoint's beginning
			b.addPause(e.ID, start.Add(time.Second), start.Add(time.Second+time.Duration(i)*time.Millisecond))
		}
		want := []string{"evt_d", "evt_c", "evt_b", "evt_a"}
		for i, id := range want {
			b.addEvent(id, webhook.PaymentSuccessful, start.Add(time.Duration(max(0, 1-i))*time.Second))
		}
		for _, limit := range []int{1, 2, 3, 4, 100} {
			var got []string
			cursor, pages := "", 0
			for ; pages < 20 && (cursor != "" || pages == 0); pages++ {
				list, next, err := b.deliveries.History(t.Context(), owner, e.ID, webhook.Skipped, cursor, limit)
				b.must(err)
				for _, d := range list {
					got = append(got, d.EventID)
				}
				cursor = next
			}
			if !slices.Equal(got, want) || cursor != "" {
				t.Errorf("%d to a page: %v after %d pages, and a further cursor %q; want %v and none",
					limit, got, pages, cursor, want)
			}
		}
	})
}
