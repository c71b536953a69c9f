package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cointill/core/payment"
	"cointill/core/trace"
	"cointill/core/webhook"
)

// openTraces sends the traces of every payment to a collector, if one is set.
func (p *product) openTraces(s *Settings) error {
	if s.OTLPEndpoint == "" {
		return nil
	}
	headers := map[string]string{}
	for _, each := range s.OTLPHeaders {
		name, value, ok := strings.Cut(each, "=")
		if !ok || name == "" {
			return fmt.Errorf("%s_OTLP_HEADERS must be name=value, with commas between", prefix)
		}
		headers[strings.TrimSpace(name)] = value
	}
	var err error
	if p.tracer, err = trace.New(context.Background(), trace.Config{Endpoint: s.OTLPEndpoint, Headers: headers,
		Version: version, Clock: p.clock}); err != nil {
		return fmt.Errorf("%s_OTLP_ENDPOINT: %w", prefix, err)
	}
	counted, measured := p.payments.Reached, p.hooks.Attempted
	p.payments.Reached = func(c payment.Change) { counted(c); p.tracer.AddState(c) }
	p.hooks.Attempted = func(a webhook.Attempted) { measured(a); p.tracer.AddAttempt(a) }
	return nil
}

// closeTraces hands over what the collector doesn't have yet, within three seconds.
func (p *product) closeTraces(ctx context.Context) {
	if p.tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := p.tracer.Close(ctx); err != nil {
		p.log.Warn("the last traces are lost", "error", err)
	}
}
