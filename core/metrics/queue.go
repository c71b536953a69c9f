package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cointill/core/scope"
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

const (
	retrying = `SELECT count(*) FROM (SELECT tries FROM mails WHERE done_at IS NULL ORDER BY due_at LIMIT ?) AS listed WHERE tries > 0`
	strays   = `SELECT domain, count(*) AS transfers FROM (SELECT domain FROM transfers WHERE unmatched <> '' AND resolution = ''
		ORDER BY business_id, domain, id LIMIT ?) AS listed GROUP BY domain`
)

// queues counts what waits to be delivered, mailed and resent.
func (c *Collector) queues(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
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
		list = append(list, gauge(queueWaiting, float64(waiting), q.name), gauge(queueDue, float64(due), q.name), gauge(queueOldest, age, q.name))
	}
	var again int
	err = c.DB.Read(ctx).Raw(retrying, tried).Scan(&again).Error
	return append(list, gauge(mailsTrying, float64(again))), err
}

// stray counts money that credits nothing.
func (c *Collector) stray(ctx context.Context, _ time.Time) (list []prometheus.Metric, err error) {
	var rows []struct {
		Domain    string
		Transfers int
	}
	err = c.DB.Read(ctx).Raw(strays, Most).Scan(&rows).Error
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		n := 0
		for _, row := range rows {
			if row.Domain == string(domain) {
				n = row.Transfers
			}
		}
		list = append(list, gauge(unmatched, float64(n), string(domain)))
	}
	return list, err
}
