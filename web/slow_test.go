package web_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
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
		conn := dial(t, address)
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

// TestSlowReadersAreServed (AP-18): a client that reads, however slowly, gets the whole answer;
// one that stops is cut half a minute later.
func TestSlowReadersAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		answer := make([]byte, 200_000)
		wrote := make(chan error, 1)
		go func() { _, err := web.Watched(ours).Write(answer); wrote <- err }()
		for read := 0; read < len(answer); {
			<-time.After(5 * time.Second)
			n, err := theirs.Read(make([]byte, 1000))
			if read += n; err != nil {
				t.Fatalf("after %d bytes: %v", read, err)
			}
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
		go func() { _, err := web.Watched(ours).Write(answer); wrote <- err }()
		if _, err := theirs.Read(make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		if err := <-wrote; err == nil || time.Since(since) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(since), err)
		}
	})
}

// TestRefusedUnread (AP-18): a client that is refused before all of it was read sees the answer,
// and not the end of the connection alone. It is counted and logged.
func TestRefusedUnread(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	long := strings.Repeat("x", 1<<20)
	for status, begins := range map[string]string{"431": "GET /healthz HTTP/1.1\r\nHost: a\r\nX: ", "400": "GET /healthz\r\n\r\n", "413": "POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n"} {
		conn := dial(t, address)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, wrote := io.WriteString(conn, begins+long)
		said, err := io.ReadAll(conn)
		if errors.Join(wrote, err) != nil || !strings.HasPrefix(string(said), "HTTP/1.1 "+status) {
			t.Errorf("%s: %v, %v, %.100q", status, wrote, err, said)
		}
		if all := b.metrics(t); !strings.Contains(all, `cointill_http_refused_total{status="`+status+`"} 1`+"\n") {
			t.Errorf("%s isn't counted: %s", status, all)
		}
		if log := b.log.String(); !strings.Contains(log, "status="+status+" peer=127.0.0.1:") {
			t.Errorf("%s isn't logged: %s", status, log)
		}
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // some are closed already
	return conn
}

// TestBrokenRequests: a client that goes while its request is read, or that has asked
// nothing when the server stops, is no error of ours.
func TestBrokenRequests(t *testing.T) {
	b := setup(t, local)
	address, stop := b.listen(t)
	broken := dial(t, address).(*net.TCPConn)
	if _, err := io.WriteString(broken, "GET /healthz HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	dial(t, address)
	if said := healthy(dial(t, address)); !strings.HasPrefix(said, "HTTP/1.1 200") { // and the others were accepted before
		t.Fatalf("healthy(dial(t, address)): said = %v", said)
	}
	if err := errors.Join(broken.SetLinger(0), broken.Close(), stop()); err != nil { // a reset
		t.Fatal(err)
	}
	if log := b.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("%s", log)
	}
}
