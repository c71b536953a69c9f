package main

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cointill/core/metrics"
)

// measure registers the metrics for Prometheus and the callbacks that count events.
func (p *product) measure() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c, err := metrics.New(registry, p.db, p.clock, metrics.Build{Version: version, Revision: revision(),
		Go: runtime.Version()})
	if err != nil {
		return nil, err
	}
	c.Networks, c.Problem, c.Quotes = p.system().Networks, p.networks.Problem, p.quotes
	if p.shared != nil {
		c.Drift = p.shared.Drift
	}
	p.payments.Reached, p.hooks.Attempted, p.receipts.Ended = c.Reached, c.Attempted, c.Mailed
	return registry, nil
}

// revision is the commit that the program was built from; "" where the build didn't say.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}
