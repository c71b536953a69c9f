package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cointill/core/scope"
	"cointill/core/webhook/delivery"
)

// tried is how many of the mails that are due first are looked at for attempts
// that failed: that isn't in an index.
const tried = 1000

// The queries name the columns of their index alone: PostgreSQL reads no row for
// them, and SQLite no more than are counted.
var queues = []struct{ name, waiting, due, oldest string }{
	{"deliveries",
		`SELECT count(*) FROM (SELECT due_at FROM deliveries WHERE done_at IS NULL LIMIT ?) AS listed`,
		`SELECT count(*) FROM (SELECT due_at FROM deliveries WHERE done_at IS NULL AND due_at <= ? LIMIT ?) AS listed`,
		`SELECT due_at FROM deliveries WHERE done_at IS NULL AND due_at <= ? ORDER BY due_at LIMIT 1`},
	{"mails",
		`SELECT count(*) FROM (SELECT due_at FROM mails WHERE done_at IS NULL LIMIT ?) AS listed`,
		`SELECT count(*) FROM (SELECT due_at FROM mails WHERE done_at IS NULL AND due_at <= ? LIMIT ?) AS listed`,
		`SELECT due_at FROM mails WHERE done_at IS NULL AND due_at <= ? ORDER BY due_at LIMIT 1`},
	{"resends",
		`SELECT count(*) FROM (SELECT counted_at FROM resends WHERE done_at IS NULL LIMIT ?) AS listed`,
		`SELECT count(*) FROM (SELECT counted_at FROM resends WHERE done_at IS NULL AND counted_at <= ? LIMIT ?) AS listed`,
		`SELECT counted_at AS due_at FROM resends WHERE done_at IS NULL AND counted_at <= ? ORDER BY counted_at LIMIT 1`},
}

const retrying = `SELECT count(*) FROM (SELECT tries FROM mails WHERE done_at IS NULL ORDER BY due_at LIMIT ?) AS listed
	WHERE tries > 0`

// each is how far the unmatched transfers of one merchant are counted: so few that
// PostgreSQL takes them in the order of the index, and leaves the others there.
const each = 100

// unmatchedQuery counts the unmatched transfers of a domain. It steps from merchant to
// merchant through the index, and skips the other rows of each: neither the other
// domain nor another merchant hides unresolved money.
func unmatchedQuery(postgres bool) string {
	of := `SELECT id FROM transfers WHERE unmatched <> '' AND resolution = ''
		AND business_id = lines.business AND domain = @domain ORDER BY id LIMIT @each`
	from := `lines CROSS JOIN LATERAL (` + of + `) AS one`
	if !postgres {
		from = `lines JOIN transfers AS one ON one.id IN (` + of + `)`
	}
	return `
		WITH RECURSIVE lines(business, n) AS (
			SELECT min(business_id), 1 FROM transfers WHERE unmatched <> '' AND resolution = ''
			UNION ALL
			SELECT (SELECT min(business_id) FROM transfers WHERE unmatched <> '' AND resolution = ''
				AND business_id > lines.business), n + 1
			FROM lines WHERE lines.business IS NOT NULL AND n < @most
		)
		SELECT count(*) FROM (SELECT one.id FROM ` + from + ` LIMIT @most) AS listed`
}

// collectQueues counts the deliveries, mails and resend orders that wait.
func (c *Collector) collectQueues(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	for _, q := range queues {
		var waiting, due int
		var oldest []struct{ DueAt time.Time }
		db := c.DB.Read(ctx)
		if err = db.Raw(q.waiting, Most).Scan(&waiting).Error; err == nil {
			err = db.Raw(q.due, now, Most).Scan(&due).Error
		}
		if err == nil {
			err = db.Raw(q.oldest, now).Scan(&oldest).Error
		}
		if err != nil {
			return nil, err
		}
		age := 0.0
		if len(oldest) > 0 {
			age = now.Sub(oldest[0].DueAt).Seconds()
		}
		list = append(list, newGauge(queueWaiting, float64(waiting), q.name), newGauge(queueDue, float64(due), q.name),
			newGauge(queueOldest, age, q.name))
	}
	var again int
	err = c.DB.Read(ctx).Raw(retrying, tried).Scan(&again).Error
	return append(list, newGauge(mailsTrying, float64(again))), err
}

// collectLateness returns how long deliveries have waited for a worker.
func (c *Collector) collectLateness(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	found, err := delivery.Late(ctx, c.DB, now)
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		list = append(list, newGauge(late, found[domain].Seconds(), string(domain)))
	}
	return list, err
}

// collectUnmatched counts money that credits nothing.
func (c *Collector) collectUnmatched(ctx context.Context, _ time.Time) (list []prometheus.Metric, err error) {
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		var n int
		bounds := map[string]any{"domain": string(domain), "each": each, "most": Most}
		if err := c.DB.Read(ctx).Raw(unmatchedQuery(c.DB.Postgres()), bounds).Scan(&n).Error; err != nil {
			return nil, err
		}
		list = append(list, newGauge(unmatched, float64(n), string(domain)))
	}
	return list, nil
}
