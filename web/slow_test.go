package web_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"cointill/web"
)

// TestSlowBodiesAreCut (AP-18) sends a body that never ends; the answer comes after the
// read timeout.
func TestSlowBodiesAreCut(t *testing.T) {
	t.Parallel() // it waits ten seconds
	b := setup(t, local)
	address, _ := b.listen(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(14 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 408") || !strings.Contains(string(all), `"code":"request_timeout"`) {
		t.Errorf("%v %q", err, all)
	}
}

// TestUnreadAnswersAreCut (AP-18): neither an answer nor a stream waits for a client that
// doesn't read it.
func TestUnreadAnswersAreCut(t *testing.T) {
	for _, path := range []string{"/v1/huge", "/pay/" + token + "/events"} {
		b := setup(t, local)
		b.CutAfter(100 * time.Millisecond)
		events := 0
		b.says = func() string { events++; return strings.Repeat(fmt.Sprintf("%08d", events), 1<<20) }
		address, stop := b.listen(t)
		conn := dialFrom(t, "127.0.0.1", address)
		_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n")
		if _, err := conn.Read(make([]byte, 1)); err != nil { // it has begun
			t.Fatal(err)
		}
		for late := time.After(20 * time.Second); strings.HasSuffix(path, "events"); {
			select {
			case b.paid <- struct{}{}:
				continue
			case <-b.left:
			case <-late:
				t.Fatal("the stream goes on")
			}
			break
		}
		if err := stop(); err != nil { // which waits for what is under way
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCrowds (AP-18, AP-23) opens as many connections as one client may have: the next one
// of theirs is told to come back, another client is answered, and so are they once they
// let go of one. A trusted proxy has as many customers as there is room for.
func TestCrowds(t *testing.T) {
	const ok, full = "HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"
	for name, test := range map[string]struct {
		proxies []string
		most    int
		other   string // what another client is told beyond that
	}{"client": {nil, 3072, ok}, "trusted proxy": {[]string{"127.0.0.1"}, 4096, full}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: test.proxies})
			address, _ := b.listen(t)
			first := make([]net.Conn, test.most)
			for i := range first {
				first[i] = dialFrom(t, "127.0.0.1", address)
			}
			for _, ask := range []struct {
				who  string
				conn func() net.Conn
				want string
			}{
				{"one more of a client with all it may have", func() net.Conn { return dialFrom(t, "127.0.0.1", address) }, full},
				{"another client", func() net.Conn { return dialFrom(t, "127.0.0.2", address) }, test.other},
				{"the first of them, which then leaves", func() net.Conn { return first[0] }, ok},
				{"the next one", func() net.Conn { return dialFrom(t, "127.0.0.1", address) }, ok},
			} {
				said := healthy(ask.conn())
				if !strings.HasPrefix(said, ask.want) {
					t.Fatalf("%s is told %q, want %q", ask.who, said, ask.want)
				}
				for _, part := range []string{"Retry-After: 5\r\n", "X-Request-Id: req_", "nosniff", `{"status":false,"message":"Too many connections`} {
					if ask.want == full && !strings.Contains(said, part) {
						t.Errorf("%s is not told %s: %q", ask.who, part, said)
					}
				}
			}
		})
	}
}

func dialFrom(t *testing.T, from, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if from != "127.0.0.1" { // which it is anyway, at a port that is found sooner
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // some are closed already
	return conn
}

// healthy is the whole answer; "" where the connection was closed without one.
func healthy(conn net.Conn) string {
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	all, _ := io.ReadAll(conn)
	return string(all)
}

// TestBrokenRequests: a client that goes while its request is read, or that has asked
// nothing when the server stops, is no error of ours.
func TestBrokenRequests(t *testing.T) {
	b := setup(t, local)
	address, stop := b.listen(t)
	broken := dialFrom(t, "127.0.0.1", address).(*net.TCPConn)
	if _, err := io.WriteString(broken, "GET /healthz HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	dialFrom(t, "127.0.0.1", address)
	if said := healthy(dialFrom(t, "127.0.0.1", address)); !strings.HasPrefix(said, "HTTP/1.1 200") { // and the others were accepted before
		t.Fatal(said)
	}
	if err := errors.Join(broken.SetLinger(0), broken.Close(), stop()); err != nil { // a reset
		t.Fatal(err)
	}
	if log := b.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("%s", log)
	}
}
