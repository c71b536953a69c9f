package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is where spans go, by OTLP over HTTP with protobuf
// (opentelemetry.io/docs/specs/otlp). OpenTelemetry's own client brings all of
// gRPC along, which made the program 2.3 MB larger.
type collector struct {
	url     string
	headers map[string]string
	client  *http.Client
}

func newCollector(url string, headers map[string]string) *collector {
	// A redirect isn't followed: the headers are secrets that are another's.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &collector{url: url, headers: headers, client: &http.Client{Timeout: 10 * time.Second, CheckRedirect: stay}}
}

// Start implements otlptrace.Client: nothing is asked before there are spans.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. What isn't taken is dropped.
func (c *collector) UploadTraces(ctx context.Context, all []*spans.ResourceSpans) error {
	// The request of the protocol is TracesData under another name.
	body, err := proto.Marshal(&spans.TracesData{ResourceSpans: all})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // read, so that the connection serves again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %s", answer.Status)
	}
	return nil
}
