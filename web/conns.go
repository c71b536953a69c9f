package web

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"cointill/core/limit"
)

const (
	maxConns = 4096 // at once; fasthttp answers others with 503
	// maxOfOne is how many of them one client may have, so that none keeps all others
	// out. A proxy that the operator trusts may have all.
	maxOfOne = maxConns * 3 / 4
)

// listener is a listener whose connections are known while they are silent, and
// counted by whose they are.
type listener struct {
	net.Listener
	silent  *silent
	crowd   *crowd
	trusted func(netip.Addr) bool
}

// Accept waits for the next connection, and closes those of a client that has too many.
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
			_ = accepted.Close() // nothing was asked
			continue
		}
		c := &conn{Conn: accepted, silent: l.silent, leave: sync.OnceFunc(func() { l.crowd.leave(client) })}
		l.silent.add(c)
		return c, nil
	}
}

// conn is a connection that tells when it was first heard of, and when it ended.
type conn struct {
	net.Conn
	silent *silent
	leave  func()
	heard  atomic.Bool
}

// Read reads what the client sends.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.heard.CompareAndSwap(false, true) {
		c.silent.remove(c)
	}
	return n, err
}

// Close ends the connection.
func (c *conn) Close() error {
	c.silent.remove(c)
	c.leave()
	return c.Conn.Close()
}

// crowd counts the connections of each client. "" is those that may have all.
type crowd struct {
	mu  sync.Mutex
	has map[string]int
}

// enter counts one more, if the client may have it.
func (c *crowd) enter(client string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client != "" && c.has[client] >= maxOfOne {
		return false
	}
	c.has[client]++
	return true
}

func (c *crowd) leave(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
