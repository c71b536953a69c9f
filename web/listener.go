package web

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// listener tracks its connections while they are silent, and counts them by client.
type listener struct {
	net.Listener
	*Server
}

// Accept waits for the next connection that is within the limits, and rejects the others.
func (l listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.acceptWithRetry()
		if err != nil {
			return nil, err
		}
		peer, _ := netip.ParseAddrPort(accepted.RemoteAddr().String()) // a socket's is one
		client, reserved := l.classifyPeer(peer.Addr())
		if !l.conns.countConn(client, reserved) {
			l.rejectOverCapacity(accepted)
			continue
		}
		c := &conn{Conn: accepted, silent: &l.silent, unread: l.unread,
			release: sync.OnceFunc(func() { l.conns.forgetConn(client) })}
		c.hold.part = l.bodies
		l.silent.add(c)
		return c, nil
	}
}

// The pauses before Accept is called again after the system had no descriptors or memory.
const (
	firstPause = 5 * time.Millisecond
	maxPause   = 500 * time.Millisecond
	// acceptLogInterval is how often the log says so.
	acceptLogInterval = time.Minute
)

// acceptWithRetry waits for the next connection. When the process or the machine has no
// descriptors or memory for one more, it closes connections without a request, and tries again.
func (l listener) acceptWithRetry() (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		accepted, err := l.Listener.Accept()
		if !isTransientAcceptError(err) {
			return accepted, err
		}
		shed := l.silent.shed()
		l.refusals.WithLabelValues(strconv.Itoa(http.StatusServiceUnavailable)).Add(float64(shed))
		if now := l.Clock(); now.Sub(l.acceptErrorLogged) >= acceptLogInterval {
			l.acceptErrorLogged = now
			l.Log.Error("no connection can be accepted now; it is tried again. Raise the limit of open files "+
				"(LimitNOFILE, ulimit -n)",
				"error", err, "silent connections closed", shed)
		}
		<-time.After(pause)
	}
}

// isTransientAcceptError reports whether a connection wasn't accepted for a reason that passes:
// no descriptors or memory, or a client that disconnected while it waited.
func isTransientAcceptError(err error) bool {
	for _, transient := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED} {
		if errors.Is(err, transient) {
			return true
		}
	}
	return false
}
