package web

import (
	"net/netip"
	"sync"
)

const (
	// maxConns is how many connections are open at once where nothing less is configured.
	maxConns = 4096
	// proxyShare is the part of all connections that unknown clients never get, as 1/4: a proxy
	// that the operator trusts brings many customers.
	proxyShare = 4
	// loopbackReserve is how many connections proxies don't get either, so that this machine can
	// always ask whether the server is ready.
	loopbackReserve = 16
	// clientShare is the part of the free connections that one unknown client may have, as 1/4.
	clientShare = 4
)

// classifyPeer returns the unknown client that a connection is counted for, and how many
// connections are reserved for others. An unknown client is an IPv4 address, or an IPv6 /48,
// the usual size of one site; it is invalid for proxies and for this machine.
func (s *Server) classifyPeer(peer netip.Addr) (unknownClient netip.Prefix, reserved int) {
	peer = peer.Unmap()
	switch {
	case s.trusted(peer): // on this machine too
		return netip.Prefix{}, min(loopbackReserve, s.conns.max/proxyShare)
	case peer.IsLoopback():
		return netip.Prefix{}, 0
	}
	bits := 48
	if peer.Is4() {
		bits = 32
	}
	unknownClient, _ = peer.Prefix(bits) // each has so many
	return unknownClient, s.conns.max / proxyShare
}

// connLimiter bounds the open connections, of all clients and of each unknown one.
type connLimiter struct {
	max      int
	mu       sync.Mutex
	open     int
	byClient map[netip.Prefix]int
}

// countConn counts one more connection if the limits allow it. The limit of one client falls
// with the number of free connections, so that a few networks never take all of them.
func (l *connLimiter) countConn(unknownClient netip.Prefix, reserved int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.max - reserved - l.open
	if free <= 0 || unknownClient.IsValid() && clientShare*l.byClient[unknownClient] >= free {
		return false
	}
	l.open++
	l.byClient[unknownClient]++
	return true
}

func (l *connLimiter) forgetConn(unknownClient netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.byClient[unknownClient]--; l.byClient[unknownClient] == 0 {
		delete(l.byClient, unknownClient)
	}
}
