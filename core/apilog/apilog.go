// Package apilog is the log of the requests to /v1, for the developers of the
// business that made them: request, response and duration. No secret is kept, and
// no customer's whole e-mail address. The log must never slow a request down or
// fail one: rows are written in batches in the background, from a bounded queue.
// Rows that find the queue full are lost, and counted.
package apilog

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// Keep is for how long calls are kept.
	Keep      = 30 * 24 * time.Hour
	waiting   = 2048 // calls in the queue
	together  = 200  // rows of one statement
	pruned    = 1000 // rows that one statement deletes
	maxBody   = 8 << 10
	writeTime = 10 * time.Second
)

// Call is a request with its answer as they were. The bodies may be cut to nothing: bodies of
// more than 8 KiB are not kept.
type Call struct {
	Scope        scope.Scope // of the key
	Origin       scope.Origin
	Method, Path string // with its query
	Status       int
	Took         time.Duration
	Body, Answer []byte
	at           time.Time
}

// Log keeps calls. Make one with New, and run Run.
type Log struct {
	db    *models.DB
	now   clock.Clock
	queue chan Call
	lost  atomic.Int64
}

// New makes a log.
func New(db *models.DB, now clock.Clock) *Log {
	return &Log{db: db, now: now, queue: make(chan Call, waiting)}
}

// CountLost counts the calls that found no place since the start.
func (l *Log) CountLost() int64 { return l.lost.Load() }

// AddCall queues a call. It copies the bodies and never waits.
func (l *Log) AddCall(c Call) {
	c.at = l.now()
	c.Body, c.Answer = copyBody(c.Body), copyBody(c.Answer)
	select {
	case l.queue <- c:
	default:
		l.lost.Add(1)
	}
}

// copyBody returns a copy of a body: the server uses its own again.
func copyBody(body []byte) []byte {
	if len(body) > maxBody {
		return []byte(tooLong)
	}
	return append([]byte(nil), body...)
}

// Run writes the queued rows until the context ends, and then the rest of the queue.
func (l *Log) Run(ctx context.Context) error {
	var rows []models.APICall
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case c := <-l.queue:
			if rows = append(rows, maskCall(c)); len(rows) < together {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			return l.FlushQueue(context.WithoutCancel(ctx), rows...)
		}
		l.storeRows(context.WithoutCancel(ctx), rows) // a write that has begun is finished when the program stops
		rows = nil
	}
}

// FlushQueue writes everything that is queued, after other rows.
func (l *Log) FlushQueue(ctx context.Context, rows ...models.APICall) error {
	for len(l.queue) > 0 {
		rows = append(rows, maskCall(<-l.queue))
	}
	l.storeRows(ctx, rows)
	return nil
}

// storeRows stores rows. When the database is away they are lost: they must not pile up.
func (l *Log) storeRows(ctx context.Context, rows []models.APICall) {
	if len(rows) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if err := models.Append(ctx, l.db, rows); err != nil {
		l.lost.Add(int64(len(rows)))
		slog.WarnContext(ctx, "calls to the API are not in its log", "calls", len(rows), "error", err)
	}
}

// PruneCalls deletes a batch of calls that were kept long enough; more says that there are others.
func (l *Log) PruneCalls(ctx context.Context) (more bool, err error) {
	gone := l.db.Exec(ctx).Exec(
		`DELETE FROM api_calls WHERE id IN (SELECT id FROM api_calls WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
		l.now().Add(-Keep), pruned)
	return gone.RowsAffected == pruned, gone.Error
}

// RewriteCalls rewrites the texts of the scope's calls since a time, of those above an id, in batches.
// It returns the id of the last one. Calls that are queued aren't among them.
func (l *Log) RewriteCalls(ctx context.Context, sc scope.Scope, after int64, since time.Time,
	rewrite func(text string) string) (last int64, err error) {
	for {
		var rows []models.APICall
		if err := sc.Rows(l.db.Read(ctx)).Where("id > ? AND created_at >= ?", after, since).Order("id").Limit(together).
			Find(&rows).Error; err != nil || len(rows) == 0 {
			return after, err
		}
		for _, row := range rows {
			path, sent, answered := rewrite(row.Path), rewrite(row.Sent), rewrite(row.Answered)
			if path == row.Path && sent == row.Sent && answered == row.Answered {
				continue
			}
			if err := l.db.Exec(ctx).Model(&row).UpdateColumns(map[string]any{"path": path, "sent": sent,
				"answered": answered}).Error; err != nil {
				return after, err
			}
		}
		after = rows[len(rows)-1].ID
	}
}

// Filter chooses calls; zero fields don't limit.
type Filter struct {
	Class  int    // 2, 4 or 5: the first digit of the status
	Key    int64  // id of an API key
	Path   string // the beginning of a path
	Before int64  // below this id: where a page begins
	Limit  int    // 1–100; 0 means 50
}

// ListCalls lists a page of the scope's calls, newest first, without their bodies, and
// where the next page begins; 0 after the last. Faults: Forbidden.
func (l *Log) ListCalls(ctx context.Context, sc scope.Scope, f Filter) (rows []models.APICall, next int64, err error) {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return nil, 0, err
	}
	if f.Limit < 1 || f.Limit > 100 {
		f.Limit = 50
	}
	query := sc.Rows(l.db.List(ctx)).Omit("sent", "answered")
	if f.Class > 0 {
		query = query.Where("status >= ? AND status < ?", f.Class*100, f.Class*100+100)
	}
	if f.Key > 0 {
		query = query.Where("key_id = ?", f.Key)
	}
	if f.Path != "" {
		query = query.Where("substr(path, 1, ?) = ?", len([]rune(f.Path)), f.Path)
	}
	return models.ReadPage(query, f.Before, f.Limit, func(row models.APICall) int64 { return row.ID })
}

// FindCall finds one call of the scope. Faults: NotFound, Forbidden.
func (l *Log) FindCall(ctx context.Context, sc scope.Scope, id int64) (row models.APICall, err error) {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return row, err
	}
	err = sc.Rows(l.db.Read(ctx)).Where("id = ?", id).Take(&row).Error
	return row, fault.MissingRow(err, "API request")
}
