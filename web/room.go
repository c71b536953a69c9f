package web

import (
	"net/netip"
	"sync"
)

const (
	// maxConns is how many connections are open at once where nothing less is configured.
	maxConns = 4096
	// proxies is the part of all connections that is never a stranger's: a proxy that the
	// operator trusts brings many customers.
	proxies = 4
	// forItself is how many are not a proxy's either, so that the machine itself is always
	// told whether the server is ready.
	forItself = 16
	// oneOf is the part of what strangers have left that one of them may have.
	oneOf = 4
)

// place returns the unknown client that a connection is counted for, and how many places
// it must leave free. An unknown client is an IPv4 address, or an IPv6 /48, the usual size
// of one site; proxies and this machine have none.
func (s *Server) place(peer netip.Addr) (stranger netip.Prefix, leaves int) {
	peer = peer.Unmap()
	switch {
	case s.trusted(peer): // on this machine too
		return netip.Prefix{}, min(forItself, s.room.most/proxies)
	case peer.IsLoopback():
		return netip.Prefix{}, 0
	}
	bits := 48
	if peer.Is4() {
		bits = 32
	}
	stranger, _ = peer.Prefix(bits) // each has so many
	return stranger, s.room.most / proxies
}

// room is how many connections are open, and how many of each stranger.
type room struct {
	most int
	mu   sync.Mutex
	all  int
	of   map[netip.Prefix]int
}

// enter counts one more connection if there is room for it. The limit of one client falls
// with the number of free places, so that a few networks never take all of them.
func (r *room) enter(stranger netip.Prefix, leaves int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := r.most - leaves - r.all
	if free <= 0 || stranger.IsValid() && oneOf*r.of[stranger] >= free {
		return false
	}
	r.all++
	r.of[stranger]++
	return true
}

func (r *room) leave(stranger netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.of[stranger]--; r.of[stranger] == 0 {
		delete(r.of, stranger)
	}
}
