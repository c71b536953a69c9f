package app

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cointill/core/metrics"
)

// registerMetrics registers the metrics for Prometheus.
func (p *Product) registerMetrics() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c, err := metrics.New(registry, p.DB, p.Clock, metrics.Build{Version: Version, Revision: BuildRevision(),
		Go: runtime.Version()})
	if err != nil {
		return nil, err
	}
	c.Networks, c.Problem, c.Quotes = p.NewSystem().Networks, p.Networks.Problem, p.Quotes
	if p.shared != nil {
		c.Drift = p.shared.Drift
	}
	p.metrics = c
	return registry, nil
}

// BuildRevision returns the commit that the program was built from; "" where the build didn't say.
func BuildRevision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}
