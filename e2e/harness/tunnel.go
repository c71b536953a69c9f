package harness

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Tunnel stands before a server, and can fall silent: it then accepts data, passes nothing on,
// and sends nothing. Connections from before never speak again.
type Tunnel struct {
	t        testing.TB
	listener net.Listener
	to       string

	mu     sync.Mutex
	silent chan struct{} // closed when those that belong to it fall silent
	conns  []net.Conn
}

// NewTunnel makes a tunnel to the server of an address, and that address with the
// tunnel in the server's place.
func NewTunnel(t testing.TB, address string) (*Tunnel, string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &Tunnel{t: t, listener: listener, to: at.Host, silent: make(chan struct{})}
	go u.acceptConnections()
	t.Cleanup(func() {
		_ = listener.Close()
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, conn := range u.conns {
			_ = conn.Close()
		}
	})
	at.Host = listener.Addr().String()
	return u, at.String()
}

// Silence loses all that comes from now on.
func (u *Tunnel) Silence() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.silent)
}

// Speak passes new connections on again.
func (u *Tunnel) Speak() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.silent = make(chan struct{})
}

func (u *Tunnel) acceptConnections() {
	for {
		near, err := u.listener.Accept()
		if err != nil {
			return // the test is over
		}
		far, err := net.Dial("tcp", u.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		u.mu.Lock()
		silent := u.silent
		u.conns = append(u.conns, near, far)
		u.mu.Unlock()
		go copyData(near, far, silent)
		go copyData(far, near, silent)
	}
}

// copyData copies from one connection to the other until either ends. Data that is read after
// silence began is lost.
func copyData(to, from net.Conn, silent chan struct{}) {
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		select {
		case <-silent:
			if err != nil {
				return // neither end notices
			}
			continue
		default:
		}
		if err == nil {
			_, err = to.Write(data[:n])
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
