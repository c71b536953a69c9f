package main

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cointill/core/metrics"
)

// registerMetrics registers the metrics for Prometheus and the callbacks that count events.
func (p *product) registerMetrics() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c, err := metrics.New(registry, p.db, p.clock, metrics.Build{Version: version, Revision: buildRevision(),
		Go: runtime.Version()})
	if err != nil {
		return nil, err
	}
	c.Networks, c.Problem, c.Quotes = p.newSystem().Networks, p.networks.Problem, p.quotes
	if p.shared != nil {
		c.Drift = p.shared.Drift
	}
	p.payments.Reached, p.hooks.Attempted, p.receipts.Ended = c.CountState, c.CountAttempt, c.CountMail
	return registry, nil
}

// buildRevision returns the commit that the program was built from; "" where the build didn't say.
func buildRevision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}
