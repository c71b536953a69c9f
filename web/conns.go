package web

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"cointill/handlers/page"
)

const (
	// unread is how long a write may wait for a client that doesn't read.
	unread = 30 * time.Second
	// maxRefused is how much of a body that is too long is read and thrown away, in bytes.
	maxRefused = 16 << 20
)

// conn is a connection that tells when it was first heard of, and when it ended.
type conn struct {
	net.Conn
	silent *silent
	unread time.Duration
	// release returns the connection to the limiter.
	release func()
	hold    hold // memory of the request
	heard   atomic.Bool
	lines   bareLines
	// trailers are the trailers of all requests so far: the next request is often read with one before it.
	trailers trailers
	// refused is set when an answer goes out before all of its request was read.
	refused atomic.Bool
}

// Read reads what the client sends, up to a line whose end another server may not see.
func (c *conn) Read(p []byte) (int, error) {
	if !c.hold.expect(len(p)) {
		return 0, errNoMemory
	}
	n, err := c.Conn.Read(p)
	c.hold.count(n)
	if n > 0 && c.heard.CompareAndSwap(false, true) {
		c.silent.remove(c)
	}
	c.trailers.read(p[:n])
	if before := c.lines.find(p[:n]); before >= 0 {
		return before, errBareLine
	}
	return n, err
}

// Write sends a part of an answer, and ends the connection of a client that reads nothing
// for too long, to free its place. Each message of a stream is one write.
func (c *conn) Write(p []byte) (n int, err error) {
	c.hold.answered()
	watch := time.AfterFunc(c.unread, func() { _ = c.reset() })
	defer watch.Stop()
	for n < len(p) && err == nil {
		var taken int
		taken, err = c.Conn.Write(p[n:min(n+page.Piece, len(p))])
		n += taken
		watch.Reset(c.unread)
	}
	return n, err
}

// Close ends the connection. Where a request was refused, it is read to its end first, or
// until the request's time is over: otherwise the client is cut off while it still
// sends, and never sees its answer.
func (c *conn) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.refused.Load() && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, maxRefused) // so that the client reads the answer before a reset
	}
	c.end()
	return c.Conn.Close()
}

// Cut ends the connection in the middle of an answer, so that it isn't taken for a whole one.
func (c *conn) Cut() error {
	c.end()
	return c.reset()
}

// end gives back what the connection takes of the server.
func (c *conn) end() {
	c.silent.remove(c)
	c.hold.end()
	c.release()
}

// reset ends the connection of a client with a reset where that can be.
func (c *conn) reset() error {
	if tcp, ok := c.Conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // else it ends in order
	}
	return c.Conn.Close()
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

// shed closes half of them, and returns how many those are.
func (s *silent) shed() (closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if 2*closed >= len(s.conns) {
			break
		}
		_ = c.Conn.Close() // nothing was sent or asked
		closed++
	}
	return closed
}
