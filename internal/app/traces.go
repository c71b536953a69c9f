package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cointill/core/payment"
	"cointill/core/trace"
	"cointill/core/webhook/delivery"
)

// openTraces sends the traces of every payment to a collector, if one is set.
func (p *Product) openTraces(s *Settings) error {
	if s.OTLPEndpoint == "" {
		return nil
	}
	headers := map[string]string{}
	for _, each := range s.OTLPHeaders {
		name, value, ok := strings.Cut(each, "=")
		if !ok || name == "" {
			return fmt.Errorf("%s_OTLP_HEADERS must be name=value, with commas between", EnvPrefix)
		}
		headers[strings.TrimSpace(name)] = value
	}
	var err error
	if p.Tracer, err = trace.New(context.Background(), trace.Config{Endpoint: s.OTLPEndpoint, Headers: headers,
		Version: Version, Clock: p.Clock}); err != nil {
		return fmt.Errorf("%s_OTLP_ENDPOINT: %w", EnvPrefix, err)
	}
	return nil
}

// reportState counts the state that a payment reached, and adds it to the trace of the payment.
func (p *Product) reportState(c payment.Change) {
	p.metrics.CountState(c)
	if p.Tracer != nil {
		p.Tracer.AddState(c)
	}
}

// reportAttempt counts a request to a webhook, and adds it to the trace of its payment.
func (p *Product) reportAttempt(a delivery.Attempted) {
	p.metrics.CountAttempt(a)
	if p.Tracer != nil {
		p.Tracer.AddAttempt(a)
	}
}

// closeTraces hands over what the collector doesn't have yet, within three seconds.
func (p *Product) closeTraces(ctx context.Context) {
	if p.Tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := p.Tracer.Close(ctx); err != nil {
		p.Log.Warn("the last traces are lost", "error", err)
	}
}
