package web_test

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/web"
)

const (
	answeredOK  = "HTTP/1.1 200 OK"
	answered503 = "HTTP/1.1 503 Service Unavailable"
)

// TestFewNetworksDontTakeAllConnections (AP-18): neither with one address nor with all of a
// /48 of IPv6; what is reserved for proxies and for the machine itself stays free.
func TestFewNetworksDontTakeAllConnections(t *testing.T) {
	b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []string{"10.0.0.0/8"}})
	const all = 10_000
	if got := b.AcquireConns("203.0.113.1", all); got != 615 {
		t.Errorf("one client gets %d connections", got)
	}
	if got := b.AcquireConns("::ffff:203.0.113.1", all); got != 0 {
		t.Errorf("it gets %d more by its other name", got)
	}
	if got := b.AcquireConns("2001:db8:1:1::1", all); got < 256 {
		t.Errorf("a second client gets %d connections", got)
	}
	if got := b.AcquireConns("2001:db8:1:2::1", all); got != 0 {
		t.Errorf("another part of its /48 gets %d", got)
	}
	for i := range 14 {
		b.AcquireConns(fmt.Sprintf("198.51.100.%d", i), all)
	}
	if got := b.AcquireConns("2001:db8:2::1", all); got < 16 {
		t.Errorf("after sixteen greedy networks another gets %d", got)
	}
	for i := 0; b.AcquireConns(fmt.Sprintf("192.0.2.%d", i), all) > 0; i++ {
	}
	if got := b.CountConns(); got != 3072 {
		t.Errorf("all unknown clients together have %d", got)
	}
	if got := b.AcquireConns("10.1.2.3", all); got != 1008 {
		t.Errorf("trusted proxies get %d beside them", got)
	}
	if got := b.AcquireConns("127.0.0.1", 8) + b.AcquireConns("::1", all); got != 16 {
		t.Errorf("the machine itself gets %d beside both", got)
	}
	own := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []string{"::1"}})
	if got := own.AcquireConns("::1", all); got != 4080 {
		t.Errorf("a proxy on this machine gets %d", got)
	}
}

// peers is a listener that takes its connections for those of other addresses, each in
// its turn.
type peers struct {
	net.Listener
	next chan net.Addr
}

func (p peers) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return peer{conn, <-p.next}, nil
}

type peer struct {
	net.Conn
	from net.Addr
}

func (p peer) RemoteAddr() net.Addr { return p.from }

// listenToPeers serves on a socket to which connections come from anywhere.
func (b *bench) listenToPeers(t *testing.T) (dialFrom func(from string) net.Conn) {
	t.Helper()
	next := make(chan net.Addr, 1)
	address, _ := b.listenBy(t, func(ln net.Listener) net.Listener { return peers{ln, next} })
	return func(from string) net.Conn {
		t.Helper()
		next <- &net.TCPAddr{IP: net.ParseIP(from), Port: 4711}
		return dial(t, address)
	}
}

// TestConnectionsOverTheLimitGet503 (AP-18, AP-23): a client that has all it may have is answered
// 503, as are all while the server is full. Others are served, and so is the client once it
// closes a connection. Rejections are counted.
func TestConnectionsOverTheLimitGet503(t *testing.T) {
	b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []string{"10.0.0.1"}})
	dialFrom := b.listenToPeers(t)
	const client = "203.0.113.1"
	first := dialFrom(client)
	const page, api = "GET /dashboard HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/long HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, step := range []struct {
		who    string
		conn   func() net.Conn
		asks   string
		before func()
		want   []string
	}{
		{who: "another one of a client", conn: func() net.Conn { return dialFrom(client) }, want: []string{answeredOK}},
		{who: "one more of a client with all it may have", before: func() { b.AcquireConns(client, 5000) }, conn: func() net.Conn { return dialFrom(client) }, asks: api,
			want: []string{answered503, "Retry-After: 5\r\n", "X-Request-Id: req_", "nosniff", "Connection: close\r\n", `{"status":false,"message":"Too many connections`}},
		{who: "a browser of that client", conn: func() net.Conn { return dialFrom(client) }, asks: page, want: []string{answered503, "Content-Type: text/html", "Too many connections"}},
		{who: "another client", conn: func() net.Conn { return dialFrom("203.0.113.2") }, want: []string{answeredOK}},
		{who: "the first of them, which then leaves", conn: func() net.Conn { return first }, want: []string{answeredOK}},
		{who: "the next one", conn: func() net.Conn { return dialFrom(client) }, want: []string{answeredOK}},
		{who: "an unknown client where unknown clients have all", conn: func() net.Conn { return dialFrom("203.0.113.4") }, want: []string{answered503}, before: func() {
			for i := 0; b.AcquireConns(fmt.Sprintf("192.0.2.%d", i), 5000) > 0; i++ {
			}
		}},
		{who: "a trusted proxy beside them", conn: func() net.Conn { return dialFrom("10.0.0.1") }, want: []string{answeredOK}},
		{who: "a proxy where proxies have all", before: func() { b.AcquireConns("10.0.0.1", 5000) }, conn: func() net.Conn { return dialFrom("10.0.0.1") }, want: []string{answered503}},
		{who: "the health check beside both", conn: func() net.Conn { return dialFrom("127.0.0.1") }, want: []string{answeredOK}},
	} {
		if step.before != nil {
			step.before()
		}
		said := ask(step.conn(), cmp.Or(step.asks, health))
		for _, want := range step.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s isn't told %q: %q", step.who, want, said)
			}
		}
	}
	if all := b.metrics(t); !strings.Contains(all, `cointill_http_refused_total{status="503"} 4`+"\n") {
		t.Error("four connections are rejected, want them counted:", all)
	}
}

// TestRejectionsAreBounded (AP-18): clients over the limit are answered 503 one after the other
// without end. Where too many are answered already, the connection is closed without an answer,
// as it is when it sends no request.
func TestRejectionsAreBounded(t *testing.T) {
	t.Parallel() // it waits a second
	b := setup(t, local)
	dialFrom := b.listenToPeers(t)
	const client = "203.0.113.1"
	b.AcquireConns(client, 5000)
	for i := range 300 {
		if said := healthy(dialFrom(client)); !strings.HasPrefix(said, answered503) {
			t.Fatalf("%d: %q", i, said)
		}
	}
	unblock := b.BlockRejections()
	if said := healthy(dialFrom(client)); said != "" {
		t.Errorf("one too many to be told: %q", said)
	}
	if all := b.metrics(t); !strings.Contains(all, `cointill_http_refused_total{status="503"} 301`+"\n") {
		t.Error("301 connections are rejected, want them counted:", all)
	}
	unblock()
	silent := dialFrom(client)
	_ = silent.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadAll(silent); err != nil {
		t.Errorf("one that asks nothing: %v", err)
	}
}

// TestConnectionIsReleasedOnce: a connection may be closed twice, as a download that is cut does.
func TestConnectionIsReleasedOnce(t *testing.T) {
	b := setup(t, local)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	accept := func() net.Conn {
		t.Helper()
		conn, err := b.Listener(ln).Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	b.AcquireConns("203.0.113.1", 1)
	dial(t, ln.Addr().String())
	conn := accept()
	if b.CountConns() != 2 {
		t.Errorf("b.CountConns() = %v", b.CountConns())
	}
	_, _ = conn.Close(), conn.Close() // the second one has nothing to close
	if b.CountConns() != 1 {
		t.Errorf("%d connections are counted, want 1", b.CountConns())
	}
	// One that comes while the server stops is closed: no one would wait for it.
	if err := b.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := dial(t, ln.Addr().String())
	defer accept().Close()
	_ = late.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadAll(late); err != nil {
		t.Errorf("a late one is kept: %v", err)
	}
}

// health asks whether the server lives.
const health = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

// healthy is the answer to that.
func healthy(conn net.Conn) string { return ask(conn, health) }

// ask sends a request and reads the whole answer; "" where the connection was closed without one.
func ask(conn net.Conn, request string) string {
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, request)
	all, _ := io.ReadAll(conn)
	return string(all)
}

// metrics is what Prometheus is told.
func (b *bench) metrics(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = b.ListenMetrics(ln) }() // it ends with the listener
	defer func() { _ = ln.Close() }()
	return scrape(t, ln)
}

// scrape asks a listener as Prometheus does.
func scrape(t *testing.T, ln net.Listener) string {
	t.Helper()
	scraped, err := http.Get("http://" + ln.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = scraped.Body.Close() }()
	all, err := io.ReadAll(scraped.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}
