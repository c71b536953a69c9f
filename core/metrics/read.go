package metrics

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
)

// The figures besides the counters. Ages are 0 where nothing waits.
var (
	buildInfo  = newDesc("build_info", "What this process was built as; always 1.", "version", "revision", "go")
	clockDrift = newDesc("clock_drift_seconds",
		"How far the clock of this process's machine is ahead of the database's; 0 with SQLite, where they are one.")
	databaseUp   = newDesc("database_up", "1 when the database can be read and changed, as far as is known, else 0.")
	followHeight = newDesc("follower_height_blocks", "The last block that was read of a network.", "network", "domain")
	followLag    = newDesc("follower_lag_blocks",
		"Blocks that the network's nodes had when they were last asked and that were not read yet.", "network",
		"domain")
	followLook = newDesc("follower_look_seconds",
		"How long ago the process that follows a network last came to the end of a look at it, whatever that "+
			"showed; told by that process alone.", "network", "domain")
	followFine = newDesc("follower_healthy",
		"1 while a network can be paid on, 0 while Cointill refuses payments there.", "network", "domain")
	leaseHeld = newDesc("lease_held",
		"1 while some process holds the lease of a piece of work, else 0: then it isn't done.", "work")
	nodeUp = newDesc("node_healthy",
		"1 while a node can be used, else 0. number: its place in the configuration, from 1.", "network", "domain",
		"number", "node")
	nodeHeight = newDesc("node_height_blocks", "The last block that a node has.", "network", "domain", "number",
		"node")
	nodeCalls = newDesc("node_calls_day", "Calls that this process made to a node in the last 24 hours.", "network",
		"domain", "number", "node")
	rateWanted = newDesc("rates_wanted",
		"1 while a live payment method is on somewhere: otherwise no source of prices is asked.")
	rateAge      = newDesc("rate_age_seconds", "Age of the newest price that a source gave of a pair.", "pair")
	rateUsable   = newDesc("rate_usable", "1 while enough sources agree on a fresh price of a pair, else 0.", "pair")
	queueWaiting = newDesc("queue_waiting",
		"Deliveries, mails and resends that wait, those to be tried again later included. Counted up to 10,000.",
		"queue")
	queueDue    = newDesc("queue_due", "Those of them whose time has come. Counted up to 10,000.", "queue")
	queueOldest = newDesc("queue_oldest_due_seconds", "For how long the first of those that are due has been due.",
		"queue")
	late = newDesc("deliveries_late_seconds",
		"For how long the first delivery that waits for a worker has been due: those that wait for what is on its "+
			"way to their endpoint or its host are left out.", "domain")
	mailsTrying = newDesc("mails_retrying",
		"Mails that wait for a further attempt. Looked for among the 1,000 that are due first.")
	unmatched = newDesc("unmatched_transfers",
		"Received money that belongs to no payment and is not resolved: at least as many, as up to 100 of "+
			"each of 10,000 merchants and 10,000 in all are counted.", "domain")
	all = []*prometheus.Desc{buildInfo, clockDrift, databaseUp, followHeight, followLag, followLook,
		followFine, leaseHeld, nodeUp, nodeHeight, nodeCalls, rateWanted, rateAge,
		rateUsable, queueWaiting, queueDue, queueOldest, late, mailsTrying, unmatched}
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("cointill_"+name, help, labels, nil)
}

func newGauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// boolValue returns 1 for true and 0 for false.
func boolValue(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// readDatabase reads the figures of the database. The ones that a read-only database can give
// are reported all the same.
func (c *Collector) readDatabase(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	unwell := c.DB.Ping(ctx) // as /readyz asks
	for _, part := range []func(context.Context, time.Time) ([]prometheus.Metric, error){
		c.collectFollowers, c.collectLeases, c.collectPrices,
		c.collectQueues, c.collectLateness, c.collectUnmatched} {
		some, err := part(ctx, now)
		if err != nil {
			return []prometheus.Metric{newGauge(databaseUp, 0)}, errors.Join(unwell, err)
		}
		list = append(list, some...)
	}
	return append(list, newGauge(databaseUp, boolValue(unwell == nil))), unwell
}

// collectFollowers returns how far each network is read.
func (c *Collector) collectFollowers(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	var rows []models.ChainCursor // a handful
	if err := c.DB.Read(ctx).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, n := range c.Networks {
		labels := []string{string(n.Name), string(n.Domain)}
		list = append(
			list,
			newGauge(followFine, boolValue(c.Problem == nil || c.Problem(string(n.Name)).IsZero()), labels...),
		)
		var tip int64 // the row has one once blocks were read; until then only the reading process knows it
		if n.Status != nil {
			if status, mine := n.Status(); mine {
				tip = status.Tip.Height
				list = append(list, newGauge(followLook, max(now.Sub(status.At), 0).Seconds(), labels...))
			}
		}
		for _, row := range rows {
			if row.Network == string(n.Name) {
				lag := max(row.SourceTip, tip) - row.Height
				list = append(list, newGauge(followHeight, float64(row.Height), labels...),
					newGauge(followLag, float64(max(lag, 0)), labels...))
			}
		}
	}
	return list, nil
}

// collectLeases reports which work a process does. The lease of a network that is no longer
// followed stays in the table, so only leases of current work are reported.
func (c *Collector) collectLeases(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	works := []string{"alarms"}
	for _, n := range c.Networks {
		works = append(works, "follow "+string(n.Name))
	}
	var rows []models.Lease
	if err := c.DB.Read(ctx).Where("name IN ?", works).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, work := range works {
		held := slices.ContainsFunc(rows, func(row models.Lease) bool {
			return row.Name == work &&
				row.ExpiresAt.After(now)
		})
		list = append(list, newGauge(leaseHeld, boolValue(held), work))
	}
	return list, nil
}

// collectPrices returns how fresh the live domain's prices are.
func (c *Collector) collectPrices(ctx context.Context, now time.Time) (list []prometheus.Metric, err error) {
	if c.Quotes == nil {
		return nil, nil
	}
	wanted, err := c.Quotes.Wanted(ctx)
	if err != nil {
		return nil, err
	}
	list = append(list, newGauge(rateWanted, boolValue(wanted)))
	for _, p := range c.Quotes.Pairs() {
		pair := p.Base + "/" + p.Quote
		_, failed := c.Quotes.Leg(scope.Live, p)
		list = append(list, newGauge(rateUsable, boolValue(failed == nil), pair))
		if newest := newestPrice(c.Quotes.Sources[scope.Live], p); !newest.IsZero() {
			list = append(list, newGauge(rateAge, max(now.Sub(newest), 0).Seconds(), pair))
		}
	}
	return list, nil
}

// newestPrice returns when the last price of a pair was given; zero for never.
func newestPrice(from quote.Source, p quote.Pair) (at time.Time) {
	if from == nil {
		return at
	}
	for _, r := range from.Readings(p) {
		if r.At.After(at) {
			at = r.At
		}
	}
	return at
}

// askNodes looks at the nodes of all networks at once.
func (c *Collector) askNodes(ctx context.Context, _ time.Time) (list []prometheus.Metric, err error) {
	var asking sync.WaitGroup
	found := make([][]prometheus.Metric, len(c.Networks))
	for at, n := range c.Networks {
		if n.Nodes == nil {
			continue
		}
		asking.Go(func() {
			for i, node := range n.Nodes(ctx) {
				// The number, as two may be on one host at paths that hold a secret.
				labels := []string{string(n.Name), string(n.Domain), strconv.Itoa(i + 1), node.Host}
				found[at] = append(found[at], newGauge(nodeUp, boolValue(node.Problem == ""), labels...),
					newGauge(nodeHeight, float64(node.Height), labels...),
					newGauge(nodeCalls, float64(node.Calls), labels...))
			}
		})
	}
	asking.Wait()
	return slices.Concat(found...), nil
}
