package modelstest

import (
	"context"
	"testing"
	"time"

	"cointill/models"
)

// AwaitLock returns once a statement in a test's PostgreSQL database waits for a lock. It fails the test if
// none does within 20 seconds.
func AwaitLock(t testing.TB, db *models.DB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for waits := false; !waits; {
		<-look.C
		if err := db.Read(ctx).Raw(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock')`).Scan(&waits).Error; err != nil {
			t.Errorf("no statement waits for a lock: %v", err)
			return
		}
	}
}
