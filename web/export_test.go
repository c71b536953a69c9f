package web

import (
	"net"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"
)

// CutAfter sets how long an answer may be unread.
func (s *Server) CutAfter(d time.Duration) { s.unread = d }

// AcquireConns counts connections of an address, n at most, and returns how many were allowed.
func (s *Server) AcquireConns(from string, n int) (got int) {
	for got < n && s.conns.countConn(s.classifyPeer(netip.MustParseAddr(from))) {
		got++
	}
	return got
}

// CountConns is how many connections are open.
func (s *Server) CountConns() int { s.conns.mu.Lock(); defer s.conns.mu.Unlock(); return s.conns.open }

// BlockRejections has connections over the limit closed without an answer, until unblock is called.
func (s *Server) BlockRejections() (unblock func()) {
	for range cap(s.rejections) {
		s.rejections <- struct{}{}
	}
	return func() {
		for range cap(s.rejections) {
			<-s.rejections
		}
	}
}

// Listener is what Listen serves on.
func (s *Server) Listener(ln net.Listener) net.Listener { return listener{ln, s} }

// Longer is what is allowed to a request by its headers.
func (s *Server) Longer(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	return s.allowLongBody(header)
}

// Watched is a connection as Listen makes them.
func Watched(c net.Conn) net.Conn { return &conn{Conn: c, unread: unread} }
