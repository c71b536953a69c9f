package webhook_test

import (
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
