package webhook_test

import (
	"slices"
	"testing"
	"time"

	"cointill/models"
)

// TestSilenceForgivesFailures: failures count from the first one on, unless nothing
// failed for more than 36 hours; then they count from the latest one.
func TestSilenceForgivesFailures(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		const silence, url = 36 * time.Hour, "https://shop.example/"
		first, now := start.Add(-100*time.Hour), start
		ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
		for _, c := range []struct {
			id       string
			failedAt *time.Time
			want     time.Time
		}{
			{"an hour ago", ago(time.Hour), first}, {"36 hours ago", ago(silence), first},
			{"longer ago", ago(silence + time.Microsecond), now}, {"at an unknown time", nil, first},
		} {
			b.insert(&models.Endpoint{ID: c.id, BusinessID: 1, Domain: "test", URL: url, Active: true, Secret: []byte{1},
				FailingSince: &first, FailedAt: c.failedAt, CreatedAt: now, UpdatedAt: now})
			b.must(b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.RecordFailure(tx, c.id, url, false) }))
			var e models.Endpoint
			b.must(b.DB.Read(t.Context()).Where("id = ?", c.id).Take(&e).Error)
			if e.FailingSince == nil || !e.FailingSince.Equal(c.want) || e.FailedAt == nil || !e.FailedAt.Equal(now) {
				t.Errorf("failed last %s: failing since %v, failed at %v; want %v, %v",
					c.id, e.FailingSince, e.FailedAt, c.want, now)
			}
		}
	})
}

// TestFailingEndpointIsNoted: members are notified about an endpoint once it has failed for fifteen minutes, once until it
// takes a delivery, and when it is switched off.
func TestFailingEndpointIsNoted(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		const url = "https://shop.example/"
		b.insert(&models.Endpoint{ID: "whk_1", BusinessID: 1, Domain: "live", Name: "orders", URL: url, Active: true, Secret: []byte{1},
			CreatedAt: start, UpdatedAt: start})
		fail := func(gone bool) {
			t.Helper()
			b.must(b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.RecordFailure(tx, "whk_1", url, gone) }))
		}
		expect := func(what string, want ...string) {
			t.Helper()
			var rows []models.Notification
			b.must(b.DB.Read(t.Context()).Order("id").Find(&rows).Error)
			var got []string
			for _, row := range rows {
				got = append(got, row.Kind+" "+row.Subject+" "+row.Domain+" "+row.Detail)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the notifications are %q, want %q", what, got, want)
			}
		}
		failing := `endpoint_failing whk_1 live {"reason":"failing","name":"orders"}`
		for _, minutes := range []time.Duration{0, 5, 9} {
			b.clock.Advance(minutes * time.Minute)
			fail(false)
			expect("within fifteen minutes")
		}
		b.clock.Advance(time.Minute)
		fail(false)
		expect("after fifteen minutes", failing)
		b.clock.Advance(time.Hour)
		fail(false)
		expect("an hour later", failing)
		b.must(b.RecordSuccesses(b.DB.Exec(t.Context()), []string{"whk_1"}))
		fail(false)
		b.clock.Advance(20 * time.Minute)
		fail(false)
		expect("failing again", failing, failing)
		fail(true)
		expect("switched off", failing, failing, `endpoint_failing whk_1 live {"reason":"switched_off","name":"orders"}`)
	})
}
