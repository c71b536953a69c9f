package web_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
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
