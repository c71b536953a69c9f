package web_test

import (
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

// TestCrowds (AP-18) opens as many connections as one client may have: the next one of
// theirs is closed, another client is answered, and so are they once they let go of one.
// A trusted proxy has as many customers as there is room for.
func TestCrowds(t *testing.T) {
	const most, ok = 3072, "HTTP/1.1 200 OK"
	for name, test := range map[string]struct {
		proxies []string
		more    string // what the first client is told beyond that
	}{"client": {nil, ""}, "trusted proxy": {[]string{"127.0.0.1"}, ok}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: test.proxies})
			address, _ := b.listen(t)
			first := make([]net.Conn, most)
			for i := range first {
				first[i] = dialFrom(t, "127.0.0.1", address)
			}
			for _, ask := range []struct {
				who  string
				conn func() net.Conn
				want string
			}{
				{"one more of a client with all it may have", func() net.Conn { return dialFrom(t, "127.0.0.1", address) }, test.more},
				{"another client", func() net.Conn { return dialFrom(t, "127.0.0.2", address) }, ok},
				{"the first of them, which then leaves", func() net.Conn { return first[0] }, ok},
				{"the next one", func() net.Conn { return dialFrom(t, "127.0.0.1", address) }, ok},
			} {
				if said := healthy(ask.conn()); said != ask.want {
					t.Errorf("%s is told %q, want %q", ask.who, said, ask.want)
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

// healthy is the first line of the answer; "" where the connection was closed without one.
func healthy(conn net.Conn) string {
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	all, _ := io.ReadAll(conn)
	line, _, _ := strings.Cut(string(all), "\r\n")
	return line
}
