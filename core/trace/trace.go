// Package trace sends an OpenTelemetry collector one trace of each payment, from its
// initiation over observed transfers to delivered webhooks. The trace's id is not
// stored: it follows from the payment's reference, so that any replica adds to it,
// days later too. Spans are made when their work is over, and sent in the background;
// when the collector doesn't take them they are dropped. Without a collector tracing
// costs nothing.
package trace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/payment"
	"cointill/core/webhook/delivery"
)

// The names of spans.
const (
	Initiate = "payment.initiate" // the root: a payment was initiated
	Opened   = "payment.open"     // its customer opened the page
	Observe  = "payment.observe"  // the chain, a deadline or a person moved its state
	Deliver  = "webhook.deliver"  // one request to a webhook
)

// queue bounds the spans that wait for the collector.
const queue = 2048

// Config says where traces go.
type Config struct {
	// Endpoint is the collector's address for OTLP over HTTP, such as
	// http://127.0.0.1:4318; without a path /v1/traces is meant.
	Endpoint string
	Headers  map[string]string // of every request to it: secrets
	Version  string
	Clock    clock.Clock
}

// Tracer makes the spans. Make one with New.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	clock    clock.Clock
}

// New makes a tracer. The collector is asked nothing yet.
func New(ctx context.Context, c Config) (*Tracer, error) {
	at, err := url.Parse(c.Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil {
		return nil, errors.New("the collector's address must be like http://127.0.0.1:4318; what it asks for is set " +
			"as headers")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = "/v1/traces"
	}
	exporter, err := otlptrace.New(ctx, newCollector(at.String(), c.Headers))
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { slog.Warn("traces are dropped", "error", err) }))
	provider := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample()), sdk.WithIDGenerator(ids{}),
		sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(queue)),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "cointill"),
			attribute.String("service.version", c.Version))))
	return &Tracer{provider: provider, tracer: provider.Tracer("cointill"), clock: c.Clock}, nil
}

// Close sends the waiting spans, for as long as ctx lasts.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// AddState adds a state that a payment reached.
func (t *Tracer) AddState(c payment.Change) {
	p := c.Payment
	attributes := []attribute.KeyValue{attribute.String("cointill.reference", p.Reference),
		attribute.String("cointill.domain", p.Domain),
		attribute.String("cointill.network", p.Network), attribute.String("cointill.state", p.Status)}
	if c.From == "" {
		ctx := context.WithValue(context.Background(), rootKey{}, rootSpan(p.Reference))
		t.startSpan(ctx, Initiate, trace.SpanKindServer, c.Began, t.clock()).endSpan(nil, attributes)
		return
	}
	name := Observe
	if c.From == payment.Pending && p.Status == string(payment.Initiated) {
		name = Opened
	}
	attributes = append(attributes, attribute.String("cointill.state.before", string(c.From)),
		attribute.String("cointill.reason", p.Reason))
	t.startSpan(withRoot(p.Reference), name, trace.SpanKindInternal, c.Began, t.clock()).endSpan(nil, attributes)
}

// AddAttempt adds a request to a webhook. Events that are about no payment are in no trace.
func (t *Tracer) AddAttempt(a delivery.Attempted) {
	var body struct {
		Data struct {
			Reference string `json:"reference"`
		} `json:"data"`
	}
	if a.Event.PaymentID == nil || json.Unmarshal([]byte(a.Event.Body), &body) != nil || body.Data.Reference == "" {
		return
	}
	var failed error
	if !a.Success {
		failed = errors.New("the endpoint didn't take the event")
	}
	t.startSpan(withRoot(body.Data.Reference), Deliver, trace.SpanKindClient, a.Began, a.Began.Add(a.Took)).
		endSpan(failed, []attribute.KeyValue{
			attribute.String("cointill.reference", body.Data.Reference),
			attribute.String("cointill.domain", a.Event.Domain),
			attribute.String("cointill.event.id", a.Event.ID), attribute.String("cointill.event.type", a.Event.Type),
			attribute.String("cointill.webhook", a.Endpoint), attribute.Int("cointill.attempt", a.Attempt),
			attribute.Int("http.response.status_code", a.Status)})
}

// span is a piece of work that is over.
type span struct {
	trace.Span
	end time.Time
}

func (t *Tracer) startSpan(ctx context.Context, name string, kind trace.SpanKind, began, end time.Time) span {
	_, s := t.tracer.Start(ctx, name, trace.WithTimestamp(began), trace.WithSpanKind(kind))
	return span{s, end}
}

// endSpan says what the work was, and ends it.
func (s span) endSpan(failed error, attributes []attribute.KeyValue) {
	s.SetAttributes(attributes...)
	if failed != nil {
		s.SetStatus(codes.Error, failed.Error())
	}
	s.End(trace.WithTimestamp(s.end))
}

// rootKey is where a context carries the ids of a trace's root.
type rootKey struct{}

// rootSpan returns the trace of a payment, and its root span.
func rootSpan(reference string) trace.SpanContext {
	sum := sha256.Sum256([]byte("cointill trace " + reference))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]),
		SpanID:     trace.SpanID(sum[16:24]),
		TraceFlags: trace.FlagsSampled, Remote: true})
}

// withRoot returns a context below a payment's root span.
func withRoot(reference string) context.Context {
	return trace.ContextWithRemoteSpanContext(context.Background(), rootSpan(reference))
}

// ids gives a root the ids that follow from its payment, and any other span a random one.
type ids struct{}

// NewIDs implements the generator of OpenTelemetry's library for a root.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if of, ok := ctx.Value(rootKey{}).(trace.SpanContext); ok {
		return of.TraceID(), of.SpanID()
	}
	return trace.TraceID(ident.RandomBytes(16)), randomID()
}

// NewSpanID makes the id of a span below a root.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return randomID() }

// randomID returns a span's id; zero would be none.
func randomID() (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], binary.BigEndian.Uint64(ident.RandomBytes(8))|1)
	return id
}
