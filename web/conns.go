package web

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"cointill/core/fault"
	"cointill/core/limit"
)

const (
	maxConns = 4096 // at once
	// maxOfOne is how many of them one client may have, so that none keeps all others
	// out. A proxy that the operator trusts may have all.
	maxOfOne = maxConns * 3 / 4
	// maxTurnedAway is how many more are told at once that there is no room; those
	// beyond are closed without a word.
	maxTurnedAway = 256
	turningAway   = time.Second
	// unread is how long what is written may wait for a client that doesn't read.
	unread = 30 * time.Second
	// maxRefused is how much of a body that is too long is read and thrown away, in bytes.
	maxRefused = 16 << 20
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
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := ""
		if peer, err := netip.ParseAddrPort(accepted.RemoteAddr().String()); err == nil && !l.trusted(peer.Addr()) {
			client = limit.Neighbourhood(peer.Addr().Unmap().String())
		}
		if !l.crowd.enter(client) {
			l.turnAway(accepted)
			continue
		}
		c := &conn{Conn: accepted, silent: &l.silent, unread: l.unread, leave: sync.OnceFunc(func() { l.crowd.leave(client) })}
		l.silent.add(c)
		return c, nil
	}
}

// turnAway tells a client that there is no room, once it has asked: some take an answer
// that comes before the question for nobody's.
func (s *Server) turnAway(c net.Conn) {
	select {
	case s.turned <- struct{}{}:
	default:
		_ = c.Close() // nothing was asked
		return
	}
	go func() {
		defer func() { <-s.turned }()
		defer time.AfterFunc(turningAway, func() { _ = c.Close() }).Stop()
		_, _ = c.Read(make([]byte, headerLimit)) // whatever it was
		var r fasthttp.RequestCtx
		answer := s.app.AcquireCtx(&r)
		defer s.app.ReleaseCtx(answer)
		_ = s.fail(answer, fault.Retry("unavailable", "Too many connections are open. Try again in a few seconds.", 5*time.Second)) // an envelope can be written
		r.Response.Header.SetConnectionClose()
		_, _ = r.Response.WriteTo(c) // who has left doesn't hear it
		_ = c.Close()                // likewise
		s.Log.Warn("no room for a connection", "request_id", s.prepare(answer), "peer", c.RemoteAddr().String())
	}()
}

// conn is a connection that tells when it was first heard of, and when it ended.
type conn struct {
	net.Conn
	silent *silent
	unread time.Duration
	leave  func()
	heard  atomic.Bool
	lines  bareLines
	// refused is set when an answer goes out before all of its request was read.
	refused atomic.Bool
}

// Read reads what the client sends, up to a line whose end another server may not see.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.heard.CompareAndSwap(false, true) {
		c.silent.remove(c)
	}
	if before := c.lines.find(p[:n]); before >= 0 {
		return before, errBareLine
	}
	return n, err
}

// Write sends a part of an answer, and ends the connection of a client that doesn't take
// it: nobody else could have its place. What streams send is a write each.
func (c *conn) Write(p []byte) (int, error) {
	defer time.AfterFunc(c.unread, func() { _ = c.Conn.Close() }).Stop()
	return c.Conn.Write(p)
}

// Close ends the connection. Where a body was refused, it is read to its end first, or
// until the request's time is over: otherwise the client is cut off while it still
// sends, and never sees its answer.
func (c *conn) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.refused.Load() && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, maxRefused) // nobody wants it
	}
	c.silent.remove(c)
	c.leave()
	return c.Conn.Close()
}

// crowd counts the connections of each client. "" is those that may have all.
type crowd struct {
	mu  sync.Mutex
	all int
	has map[string]int
}

// enter counts one more, if there is room for it and the client may have it.
func (c *crowd) enter(client string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= maxConns || client != "" && c.has[client] >= maxOfOne {
		return false
	}
	c.all++
	c.has[client]++
	return true
}

func (c *crowd) leave(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.has[client]--; c.has[client] == 0 {
		delete(c.has, client)
	}
}

// silent holds connections on which nothing has been asked yet. Browsers open
// some ahead of need, and fasthttp, which takes them for busy ones, would wait
// for their first byte before it stops.
type silent struct {
	mu       sync.Mutex
	conns    map[*conn]struct{}
	stopping bool
}

func (s *silent) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		_ = c.Conn.Close() // nothing was sent or asked
		return
	}
	s.conns[c] = struct{}{}
}

func (s *silent) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// stop closes them all, and those that still come.
func (s *silent) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for c := range s.conns {
		_ = c.Conn.Close() // nothing was sent or asked
	}
}
