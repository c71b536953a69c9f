package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"cointill/core/trace"
	"cointill/core/webhook"
	"cointill/internal/app"
)

// gatherer is an OpenTelemetry collector, as far as OTLP over HTTP goes.
type gatherer struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*spans.Span
	text  string // of everything that came
}

func gather(t *testing.T) *gatherer {
	t.Helper()
	g := &gatherer{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var packed io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if packed, err = gzip.NewReader(r.Body); err != nil {
				t.Error(err)
				return
			}
		}
		var body bytes.Buffer
		var request collector.ExportTraceServiceRequest
		if _, err := body.ReadFrom(packed); err != nil || proto.Unmarshal(body.Bytes(), &request) != nil {
			t.Error("what came is no trace", err)
		}
		if r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer word" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.text += request.String()
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				g.spans = append(g.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// TestTraces: one payment is one trace, from its initiation to what its webhook
// was told, and nobody's name, address or secret is in it.
func TestTraces(t *testing.T) {
	t.Parallel()
	g := gather(t)
	i := serving(t, &app.Settings{OTLPEndpoint: g.URL, OTLPHeaders: []string{"authorization=Bearer word"}})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	_, secret, err := i.Webhooks.Create(t.Context(), i.scope, webhook.Create{Name: "orders", URL: hook.URL, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	v := i.pay(t)
	for last := ""; last != webhook.PaymentSuccessful; {
		select {
		case a := <-i.attempts:
			last = a.Event.Type
		case <-t.Context().Done():
			t.Fatal("not delivered")
		}
	}
	if _, text := get(t, i.metrics); !strings.Contains(text, `cointill_delivery_attempt_seconds_count{domain="test",outcome="delivered"} 4`) {
		t.Error("deliveries are not counted")
	}
	if err := i.Tracer.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	roots, names := map[string]string{}, map[string]int{}
	for _, s := range g.spans {
		if len(s.ParentSpanId) == 0 {
			roots[string(s.TraceId)] = string(s.SpanId)
		}
		names[s.Name]++
		if s.EndTimeUnixNano < s.StartTimeUnixNano || s.StartTimeUnixNano == 0 {
			t.Errorf("%s ends before it begins", s.Name)
		}
	}
	for _, s := range g.spans {
		if parent := string(s.ParentSpanId); len(roots) != 1 || parent != "" && parent != roots[string(s.TraceId)] {
			t.Errorf("%s is not below the one root (%d)", s.Name, len(roots))
		}
	}
	if names[trace.Initiate] != 1 || names[trace.Opened] != 1 || names[trace.Observe] != 2 || names[trace.Deliver] < 4 {
		t.Errorf("%v", names)
	}
	for _, private := range []string{"Ngozi", "Okafor", "customer.example", v.Payment.Address, secret, i.Payments.PageURL(v.Payment), hook.URL} {
		if strings.Contains(g.text, private) {
			t.Errorf("%q is told", private)
		}
	}
	if !strings.Contains(g.text, v.Payment.Reference) {
		t.Error("the payment's reference is not told")
	}
}

// TestTracesRefused: an address that is none stops the start.
func TestTracesRefused(t *testing.T) {
	for _, s := range []*app.Settings{{OTLPEndpoint: "127.0.0.1:4318"}, {OTLPEndpoint: "http://user:word@host"}, {OTLPEndpoint: "http://host", OTLPHeaders: []string{"word"}}} {
		s.DataDir, s.Listen = t.TempDir(), "127.0.0.1:0"
		if _, err := app.New(t.Context(), s, &net.TCPAddr{}); err == nil || !strings.Contains(err.Error(), "COINTILL_OTLP_") || strings.Contains(err.Error(), "word") {
			t.Errorf("%+v: %v", s.OTLPEndpoint, err)
		}
	}
}
