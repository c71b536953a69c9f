package e2e

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"cointill/e2e/harness"
)

// balancer gives requests to replicas in turn. The only thing that it tries at
// another is a connection that was refused. Answers say whose they are in X-Replica.
type balancer struct {
	*httptest.Server
	replicas []*harness.Instance
	turn     atomic.Int64
	direct   http.Transport
}

func newBalancer(t *testing.T) *balancer {
	b := &balancer{direct: http.Transport{DisableKeepAlives: true}}
	proxy := &httputil.ReverseProxy{Transport: b, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	b.Server = httptest.NewServer(proxy)
	t.Cleanup(func() { b.CloseClientConnections(); b.Close() })
	return b
}

// RoundTrip asks the replica whose turn it is.
func (b *balancer) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	first := int(b.turn.Add(1))
	for n := range b.replicas {
		at := (first + n) % len(b.replicas)
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host = "http", b.replicas[at].Base[len("http://"):]
		out.Body = io.NopCloser(bytes.NewReader(body))
		answer, err = b.direct.RoundTrip(out)
		if err == nil {
			answer.Header.Set("X-Replica", strconv.Itoa(at))
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	return answer, err
}
