package notification_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// bench is a business with a member who joined at noon.
type bench struct {
	*testing.T
	db      *models.DB
	clock   *clock.Fake
	notices *notification.Service
	owner   scope.Scope
}

func eachBench(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := &bench{T: t, db: db, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
			owner: scope.Scope{BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}}
		b.notices = &notification.Service{DB: db, Clock: b.clock.Now}
		b.must(db.Exec(t.Context()).Create(&models.Member{BusinessID: 1, UserID: 1, Role: string(scope.Owner),
			CreatedAt: b.clock.Now()}).Error)
		test(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// note stores notifications of a kind at a time.
func (b *bench) note(kind notification.Kind, times int, at time.Time) (ids []int64) {
	b.Helper()
	rows := make([]models.Notification, times)
	for i := range rows {
		rows[i] = models.Notification{BusinessID: 1, Domain: "live", Kind: string(kind), Detail: "{}", Times: 1,
			CreatedAt: at}
	}
	b.must(b.db.Exec(b.Context()).CreateInBatches(rows, 50).Error)
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func (b *bench) expectUnread(when string, want int) {
	b.Helper()
	if got, err := b.notices.CountUnread(b.Context(), b.owner); err != nil || got != want {
		b.Errorf("%s %d notifications are unread, %v; want %d", when, got, err, want)
	}
}

// TestUnreadNotificationsAreCounted counts all kinds since the member joined, without the read ones.
func TestUnreadNotificationsAreCounted(t *testing.T) {
	eachBench(t, func(b *bench) {
		now := b.clock.Now()
		b.note(notification.Paid, 300, now.Add(-time.Hour))
		b.expectUnread("at first", 0)
		declined := b.note(notification.Declined, 3, now)
		paid := b.note(notification.Paid, 250, now)
		b.expectUnread("after many", notification.MaxUnread)
		for _, id := range paid[30:] {
			b.must(b.notices.MarkRead(b.Context(), b.owner, id))
		}
		b.expectUnread("with the newest read one by one", 33)
		b.must(b.notices.MarkAllRead(b.Context(), b.owner, declined[1]))
		b.expectUnread("with a marker below most", 31)
		b.must(b.notices.MarkAllRead(b.Context(), b.owner, paid[len(paid)-1]))
		b.expectUnread("with all read", 0)
		b.note(notification.Unmatched, 2, now)
		b.expectUnread("after two more", 2)
	})
}

// TestCountOfUnreadIsBounded checks on PostgreSQL, which counts them, that few rows are read for a new member of a
// business with many notifications: every page counts.
func TestCountOfUnreadIsBounded(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Paid, 4000, b.clock.Now().Add(-time.Hour))
		b.note(notification.Paid, 2, b.clock.Now())
		if !b.db.Postgres() {
			b.expectUnread("after two", 2)
			return
		}
		b.must(b.db.Exec(b.Context()).Exec("ANALYZE notifications").Error)
		var most float64
		explain := func(q *gorm.DB) {
			if q.DryRun || q.Error != nil {
				return
			}
			lines, err := q.Statement.ConnPool.QueryContext(b.Context(),
				"EXPLAIN (ANALYZE, TIMING OFF) "+q.Statement.SQL.String(), q.Statement.Vars...)
			b.must(err)
			defer lines.Close()
			for lines.Next() {
				var line string
				b.must(lines.Scan(&line))
				most = max(most, countRows(line))
			}
		}
		read := b.db.Read(b.Context())
		b.must(read.Callback().Query().After("gorm:query").Register("test:rows", explain))
		defer func() { _ = read.Callback().Query().Remove("test:rows") }()
		b.expectUnread("after two", 2)
		if most == 0 || most > 2*notification.MaxUnread {
			b.Errorf("a step of the count reads %g rows, want 1 to %d", most, 2*notification.MaxUnread)
		}
	})
}

// countRows reads how many rows a line of a plan says that its step gave or left out.
func countRows(line string) (rows float64) {
	for _, before := range []string{"actual rows=", "Rows Removed by Filter: "} {
		if _, rest, found := strings.Cut(line, before); found {
			number, _, _ := strings.Cut(rest, " ")
			n, err := strconv.ParseFloat(number, 64)
			if err != nil {
				panic(fmt.Sprintf("%q: %v", line, err))
			}
			rows = max(rows, n)
		}
	}
	return rows
}
