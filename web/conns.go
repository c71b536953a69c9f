package web

import (
	"net"
	"sync"

	"github.com/valyala/fasthttp"
)

// silent holds connections on which nothing has been asked yet. Browsers open
// some ahead of need, and fasthttp would wait for their first byte before it stops.
type silent struct {
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	stopping bool
}

// track is fasthttp's ConnState hook.
func (s *silent) track(conn net.Conn, state fasthttp.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != fasthttp.StateNew:
		delete(s.conns, conn)
	case s.stopping:
		_ = conn.Close() // nothing was sent or asked
	default:
		s.conns[conn] = struct{}{}
	}
}

// stop closes them all, and those that still come.
func (s *silent) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for conn := range s.conns {
		_ = conn.Close() // nothing was sent or asked
	}
}
