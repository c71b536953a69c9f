package web_test

import (
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
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
	if said := healthy(dial(t, address)); !strings.HasPrefix(said, wellAnswered) {
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
