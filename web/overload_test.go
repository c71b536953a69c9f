package web_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cointill/core/memory"
	"cointill/web"
)

// failing is a listener that fails some times before it accepts.
type failing struct {
	net.Listener
	errs chan error
}

func (f *failing) Accept() (net.Conn, error) {
	select {
	case err := <-f.errs:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	default:
		return f.Listener.Accept()
	}
}

// TestAcceptOutlivesScarcity (AP-18): a process without descriptors or memory for one more
// connection goes on accepting once there are some, and first closes connections on which
// nothing was asked. The log says so, once a minute.
func TestAcceptOutlivesScarcity(t *testing.T) {
	b := setup(t, local)
	failures := &failing{errs: make(chan error, 5)}
	address, _ := b.listenBy(t, func(ln net.Listener) net.Listener { failures.Listener = ln; return failures })
	var silent []net.Conn
	for range 8 {
		silent = append(silent, dial(t, address))
	}
	asked := dial(t, address)
	ask := func() {
		t.Helper()
		_, _ = io.WriteString(asked, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
		_ = asked.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := asked.Read(make([]byte, 4096)); err != nil || n == 0 {
			t.Fatalf("a connection that has asked before is answered with %v", err)
		}
	}
	ask()
	// Accept may wait for a next one by now: these fail once that has come.
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.ECONNABORTED} {
		failures.errs <- err
	}
	dial(t, address)
	if said := healthy(dial(t, address)); !strings.HasPrefix(said, answeredOK) {
		t.Errorf("the one after is answered with %q", said)
	}
	ask()
	for i, conn := range silent {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("silent connection %d is kept: %v", i, err)
		}
	}
	if said := strings.Count(b.log.String(), "no connection can be accepted now"); said != 1 {
		t.Errorf("the log says %d times that none can be accepted, want 1", said)
	}
}

// TestConnectionsFollowTheLimit (AP-18): where fewer connections may be open, unknown
// clients, proxies and the machine itself have the same parts of them as of 4,096.
func TestConnectionsFollowTheLimit(t *testing.T) {
	for _, c := range []struct{ connections, one, unknown, proxies, itself int }{
		{512, 77, 384, 112, 16},
		{32, 5, 24, 0, 8},
	} {
		b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080",
			TrustedProxies: []string{"10.0.0.0/8"}, Connections: c.connections})
		if got := b.AcquireConns("203.0.113.1", 10_000); got != c.one {
			t.Errorf("of %d connections one client gets %d, want %d", c.connections, got, c.one)
		}
		for i := 0; b.AcquireConns(fmt.Sprintf("192.0.2.%d", i), 10_000) > 0; i++ {
		}
		if got := b.CountConns(); got != c.unknown {
			t.Errorf("of %d connections unknown clients have %d, want %d", c.connections, got, c.unknown)
		}
		if got := b.AcquireConns("10.1.2.3", 10_000); got != c.proxies {
			t.Errorf("of %d connections proxies get %d beside unknown clients, want %d", c.connections, got, c.proxies)
		}
		if got := b.AcquireConns("127.0.0.1", 10_000); got != c.itself {
			t.Errorf("of %d connections the machine itself gets %d beside both, want %d", c.connections, got, c.itself)
		}
	}
}

// TestHalfSentBodiesShareMemory (AP-18): bodies that are announced and not sent take memory
// of a budget. Once it is used up, a further one is told to come back, whether it has a length
// or comes in chunks, and short ones are served. Who ends or is answered gives back what it took.
func TestHalfSentBodiesShareMemory(t *testing.T) {
	const length = 60_000
	part := memory.NewBudget(1 << 20).Part(length)
	config := local
	config.Bodies = part
	b := setup(t, config)
	address, _ := b.listen(t)
	const head = "POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
	long := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, length, strings.Repeat(" ", length))
	used := func() bool {
		if !part.Take(length / 2) {
			return true
		}
		part.Give(length / 2)
		return false
	}
	begin := func() net.Conn {
		t.Helper()
		conn := dial(t, address)
		_, _ = io.WriteString(conn, long[:len(long)-1])
		await(t, "the memory for a body to be taken", used)
		return conn
	}
	first := begin()
	chunks := head + "Transfer-Encoding: chunked\r\n\r\n" +
		strings.Repeat("1000\r\n"+strings.Repeat(" ", 0x1000)+"\r\n", 14)
	for name, request := range map[string]string{"a length": long, "chunks": chunks} {
		said := exchange(t, address, request)
		for _, want := range []string{answered503, "Retry-After: 5\r\n",
			`"message":"The server has no memory for long requests now.`} {
			if !strings.Contains(said, want) {
				t.Errorf("a long body with %s isn't told %q while there is no memory: %.300q", name, want, said)
			}
		}
	}
	short := fmt.Sprintf("%sConnection: close\r\nContent-Length: 4000\r\n\r\n%s", head, strings.Repeat(" ", 4000))
	if said := exchange(t, address, short); !strings.HasPrefix(said, answeredOK) {
		t.Errorf("a short body is answered with %.100q while there is no memory for long ones", said)
	}
	if all := b.metrics(t); !strings.Contains(all, `cointill_http_refused_total{status="503"} 2`+"\n") {
		t.Errorf("the two refused bodies aren't counted: %s", all)
	}
	_ = first.Close() // in the middle of its body
	free := func() bool { return !used() }
	await(t, "what a broken request took to be given back", free)
	second := begin()
	_, _ = io.WriteString(second, " ") // its last byte
	_ = second.SetReadDeadline(time.Now().Add(5 * time.Second))
	answer := make([]byte, len(answeredOK))
	if _, err := io.ReadFull(second, answer); err != nil || string(answer) != answeredOK {
		t.Errorf("a long body is answered with %q, %v", answer, err)
	}
	await(t, "what an answered request took to be given back", free)
}

// await waits until a condition holds, at most ten seconds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ask, late := time.NewTicker(time.Millisecond), time.After(10*time.Second)
	defer ask.Stop()
	for !condition() {
		select {
		case <-ask.C:
		case <-late:
			t.Fatal("waited ten seconds for " + what)
		}
	}
}
