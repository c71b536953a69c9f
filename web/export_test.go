package web

import (
	"net"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"
)

// CutAfter sets how long an answer may be unread.
func (s *Server) CutAfter(d time.Duration) { s.unread = d }

// Seat takes places for connections of an address, n at most, and gives how many it got.
func (s *Server) Seat(from string, n int) (got int) {
	for got < n && s.room.enter(s.place(netip.MustParseAddr(from))) {
		got++
	}
	return got
}

// Seated is how many places are taken.
func (s *Server) Seated() int { s.room.mu.Lock(); defer s.room.mu.Unlock(); return s.room.all }

// TellNobody takes all places of those who are told that there is no room, until tell is called.
func (s *Server) TellNobody() (tell func()) {
	for range cap(s.turned) {
		s.turned <- struct{}{}
	}
	return func() {
		for range cap(s.turned) {
			<-s.turned
		}
	}
}

// Listener is what Listen serves on.
func (s *Server) Listener(ln net.Listener) net.Listener { return listener{ln, s} }

// Longer is what is allowed to a request by its headers.
func (s *Server) Longer(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	return s.longer(header)
}

// Watched is a connection as Listen makes them.
func Watched(c net.Conn) net.Conn { return &conn{Conn: c, unread: unread} }
