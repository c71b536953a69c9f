package limit_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/limit"
	"cointill/models"
	"cointill/models/modelstest"
)

// slow is a pool of connections that does something before each transaction.
type slow struct {
	*sql.DB
	before func()
}

func (s *slow) GetDBConn() (*sql.DB, error) { return s.DB, nil }

func (s *slow) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	s.before()
	return s.DB.BeginTx(ctx, opts)
}

// through has something done before each transaction.
func through(db *models.DB, before func()) {
	db.Through(func(whole gorm.ConnPool) gorm.ConnPool {
		if s, again := whole.(*slow); again {
			whole = s.DB
		}
		return &slow{whole.(*sql.DB), before}
	})
}

// TestClockGoesBack: whatever the clock does while counts are being written, each is
// written once, and by a minute or less it takes no count away.
func TestClockGoesBack(t *testing.T) {
	for _, step := range []time.Duration{limit.Window, 3 * limit.Window} {
		t.Run(step.String(), func(t *testing.T) {
			now := begin()
			db := modelstest.Open(t, false, now.Now)
			l := limit.New(db, now.Now)
			during := func() {
				now.Advance(step)
				l.Take("key:1", 10)
				now.Advance(-step)
				l.Take("key:1", 10)
			}
			through(db, func() { during() })
			l.Take("key:0", 10)
			l.Take("key:1", 10)
			if err := l.ExchangeCounts(t.Context()); err != nil {
				t.Fatal(err)
			}
			during = func() {}
			for range 2 { // nothing is added twice
				if err := l.ExchangeCounts(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			var rows []models.RateWindow
			if err := db.Read(t.Context()).Where("key = ?", "key:1").Order("starts_at").Find(&rows).Error; err != nil {
				t.Fatal(err)
			}
			left := l.Take("key:1", 10).Remaining
			switch {
			case step == limit.Window && len(rows) == 2 && rows[0].Count == 1 && rows[1].Count == 2 && left == 7: // the later window goes on
			case step > limit.Window && len(rows) == 1 && rows[0].Count == 2 && left == 7:
			default:
				t.Errorf("%+v, %d left", rows, left)
			}
		})
	}
}
