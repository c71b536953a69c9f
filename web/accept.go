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

// listener is a listener whose connections are known while they are silent, and
// counted by whose they are.
type listener struct {
	net.Listener
	*Server
}

// Accept waits for the next connection that there is room for.
func (l listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.acceptAny()
		if err != nil {
			return nil, err
		}
		peer, _ := netip.ParseAddrPort(accepted.RemoteAddr().String()) // a socket's is one
		stranger, leaves := l.place(peer.Addr())
		if !l.room.enter(stranger, leaves) {
			l.turnAway(accepted)
			continue
		}
		c := &conn{Conn: accepted, silent: &l.silent, unread: l.unread,
			leave: sync.OnceFunc(func() { l.room.leave(stranger) })}
		c.hold.part = l.bodies
		l.silent.add(c)
		return c, nil
	}
}

// The pauses before a connection is accepted again that the system had no means for.
const (
	firstPause = 5 * time.Millisecond
	maxPause   = 500 * time.Millisecond
	// complainEvery is how often the log says so.
	complainEvery = time.Minute
)

// acceptAny waits for the next connection. Where the process or the machine has no means for
// one more, it closes connections on which nothing was asked yet, and tries again.
func (l listener) acceptAny() (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		accepted, err := l.Listener.Accept()
		if !scarce(err) {
			return accepted, err
		}
		shed := l.silent.shed()
		l.refusals.WithLabelValues(strconv.Itoa(http.StatusServiceUnavailable)).Add(float64(shed))
		if now := l.Clock(); now.Sub(l.complained) >= complainEvery {
			l.complained = now
			l.Log.Error("no connection can be accepted now; it is tried again. Raise the limit of open files "+
				"(LimitNOFILE, ulimit -n)",
				"error", err, "silent connections closed", shed)
		}
		<-time.After(pause)
	}
}

// scarce reports whether a connection wasn't accepted for a reason that passes: no
// descriptors or memory, or a client that left while it waited.
func scarce(err error) bool {
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
