package web

import (
	"net"
	"sync"
	"sync/atomic"
)

// silent holds connections on which nothing has been asked yet. Browsers open
// some ahead of need, and fasthttp, which takes them for busy ones, would wait
// for their first byte before it stops.
type silent struct {
	mu       sync.Mutex
	conns    map[*conn]struct{}
	stopping bool
}

// listener is a listener whose connections are known while they are silent.
type listener struct {
	net.Listener
	silent *silent
}

// Accept waits for the next connection.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, silent: l.silent}
	l.silent.add(c)
	return c, nil
}

// conn is a connection that tells when it was first heard of.
type conn struct {
	net.Conn
	silent *silent
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
	return c.Conn.Close()
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
