// Package metrics gives Prometheus the figures that operators set alarms on. Figures
// of one process (states reached, attempts made) are counted as they happen. Figures
// of the database are the same on every replica. They are read at a scrape, unless
// the last reading is only some seconds old, by queries that touch a bounded number
// of index entries: a scrape costs the same at any size. Labels are few and known
// beforehand; no data of a merchant or a customer is one.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

const (
	// Most is as far as rows are counted: a gauge of them never says more.
	Most = 10_000
	// keep is how long a reading of the database is used again.
	keep = 5 * time.Second
	// keepNodes is the same of nodes, which providers charge for being asked.
	keepNodes = 15 * time.Second
	// patience is how long the database and the nodes may take, each: a scrape
	// is given up by Prometheus after ten seconds.
	patience = 4 * time.Second
)

// Build is what a program was built as.
type Build struct{ Version, Revision, Go string }

// Collector is what Prometheus asks. Make one with New.
type Collector struct {
	DB    *models.DB
	Clock clock.Clock
	// Networks are those that are followed; Problem is why nothing should be
	// paid on one now, zero when all is well.
	Networks []system.Network
	Problem  func(network string) fault.Message
	Quotes   *quote.Service
	// Drift is how far this machine's clock is ahead of the database's; nil where
	// they are one.
	Drift func() time.Duration

	build    Build
	payments *prometheus.CounterVec
	attempts *prometheus.HistogramVec
	mails    *prometheus.CounterVec

	mu            sync.Mutex
	stored, nodes reading
}

// reading is one reading of the database, with its time.
type reading struct {
	at      time.Time
	metrics []prometheus.Metric
}

// New makes the collector and registers it, with its counters and the database's
// pools of connections. Its other fields are set before the first scrape.
func New(registry *prometheus.Registry, db *models.DB, now clock.Clock, build Build) (*Collector, error) {
	c := &Collector{DB: db, Clock: now, build: build,
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cointill_payments_total",
			Help: "Payments by the state that they reached. pending: initiated."}, []string{"domain", "state"}),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "cointill_delivery_attempt_seconds",
			Help:    "Requests to webhooks: how long they took, by domain and outcome.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 15}},
			[]string{"domain", "outcome"}),
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cointill_mails_total",
			Help: "Attempts to send a mail by outcome: sent, kept, retried, failed, unknown."}, []string{"outcome"}),
	}
	c.resetCounters()
	errs := []error{registry.Register(c), registry.Register(c.payments), registry.Register(c.attempts),
		registry.Register(c.mails)}
	for name, pool := range db.Pools() {
		errs = append(errs, registry.Register(collectors.NewDBStatsCollector(pool, name)))
	}
	return c, errors.Join(errs...)
}

// resetCounters has every counter stand at 0, so that the first of a kind is a rise.
func (c *Collector) resetCounters() {
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		for _, state := range payment.States() {
			c.payments.WithLabelValues(string(domain), string(state))
		}
		for _, outcome := range []string{delivered, failed} {
			c.attempts.WithLabelValues(string(domain), outcome)
		}
	}
	for _, outcome := range []string{mail.Sent, mail.Kept, mail.Retried, mail.Failed, mail.Unknown} {
		c.mails.WithLabelValues(outcome)
	}
}

// The outcomes of requests to webhooks.
const (
	delivered = "delivered"
	failed    = "failed"
)

// CountState counts a state that a payment reached.
func (c *Collector) CountState(change payment.Change) {
	c.payments.WithLabelValues(change.Payment.Domain, change.Payment.Status).Inc()
}

// CountAttempt counts a request to a webhook.
func (c *Collector) CountAttempt(a delivery.Attempted) {
	outcome := failed
	if a.Success {
		outcome = delivered
	}
	c.attempts.WithLabelValues(a.Event.Domain, outcome).Observe(a.Took.Seconds())
}

// CountMail counts an attempt to send a mail.
func (c *Collector) CountMail(outcome string) { c.mails.WithLabelValues(outcome).Inc() }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range all {
		to <- d
	}
}

// Collect tells how it all is, as read some seconds ago at most. Values that can't be read now
// are left out, rather than shown as they was.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Clock()
	c.readFigures(&c.stored, now, keep, c.readDatabase)
	c.readFigures(&c.nodes, now, keepNodes, c.askNodes)
	to <- newGauge(buildInfo, 1, c.build.Version, c.build.Revision, c.build.Go)
	var drift time.Duration
	if c.Drift != nil {
		drift = c.Drift()
	}
	to <- newGauge(clockDrift, drift.Seconds())
	for _, list := range [][]prometheus.Metric{c.stored.metrics, c.nodes.metrics} {
		for _, m := range list {
			to <- m
		}
	}
}

// readFigures reads figures that are too old again.
func (c *Collector) readFigures(k *reading, now time.Time, keep time.Duration,
	read func(context.Context, time.Time) ([]prometheus.Metric, error)) {
	if age := now.Sub(k.at); !k.at.IsZero() && age >= 0 && age < keep {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := read(ctx, now)
	if err != nil {
		slog.Error("metrics: the database can't be read or changed", "error", err)
	}
	*k = reading{at: now, metrics: list}
}
