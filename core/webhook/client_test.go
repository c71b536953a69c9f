package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"

	"cointill/core/scope"
)

// hostile are addresses that no live delivery may reach, in the forms that a
// dialer hands to its guard.
var hostile = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1.2.3",
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192",
	"192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "::127.0.0.1",
	"64:ff9b::7f00:1", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:10::1", "2001:db8::1", "2002:7f00:1::1",
	"3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fe80::1%eth0",
	"fec0::1", "ff02::1", "1fff::1", "e000::1",
}

var public = []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.167.1.1", "223.255.255.255",
	"2606:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "2001:200::1"}

func TestGuard(t *testing.T) {
	t.Parallel()
	live := newGuard(GuardConfig{Domain: scope.Live, AllowLoopback: true, AllowPrivate: true})
	test := newGuard(GuardConfig{Domain: scope.Test})
	open := newGuard(GuardConfig{Domain: scope.Test, AllowLoopback: true, AllowPrivate: true})
	loop := newGuard(GuardConfig{Domain: scope.Test, AllowLoopback: true})
	port := func(ip string) string { return net.JoinHostPort(ip, "443") }
	for _, ip := range hostile {
		for name, g := range map[string]guard{"live": live, "test": test} {
			if err := g.control("tcp", port(ip), nil); !errors.Is(err, ErrForbiddenAddress) {
				t.Errorf("%s reaches %s", name, ip)
			}
		}
	}
	for _, ip := range public {
		for _, g := range []guard{live, test, open, loop} {
			if err := g.control("tcp", port(ip), nil); err != nil {
				t.Errorf("%s is refused", ip)
			}
		}
	}
	for ip, want := range map[string][2]bool{ // with loopback; with loopback and private
		"127.0.0.1": {true, true}, "::1": {true, true}, "::ffff:127.0.0.1": {true, true}, "10.1.2.3": {false, true},
		"fd12::1": {false, true}, "192.168.0.9": {false, true}, "169.254.169.254": {false, false}, "fd00:ec2::254": {false, false},
		"100.100.100.200": {false, false}, "0.0.0.0": {false, false}, "fe80::1": {false, false}, "fe80::1%lo": {false, false},
	} {
		if got := loop.control("tcp", port(ip), nil) == nil; got != want[0] {
			t.Errorf("with loopback allowed, %s: %v", ip, got)
		}
		if got := open.control("tcp", port(ip), nil) == nil; got != want[1] {
			t.Errorf("with private allowed, %s: %v", ip, got)
		}
	}
	for _, nonsense := range []string{"", "example.com:443", "127.0.0.1", "[::1", "1.1.1.1:99999"} {
		if open.control("tcp", nonsense, nil) == nil {
			t.Errorf("%q passes", nonsense)
		}
	}
}

// TestGuardOwn never lets a delivery come to our own listeners, whatever else is allowed.
func TestGuardOwn(t *testing.T) {
	t.Parallel()
	g := newGuard(GuardConfig{Domain: scope.Test, AllowLoopback: true, AllowPrivate: true, Own: []netip.AddrPort{
		netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("0.0.0.0:9090"), netip.MustParseAddrPort("1.2.3.4:0"),
	}})
	for address, want := range map[string]bool{
		"127.0.0.1:8080": false, "[::ffff:127.0.0.1]:8080": false, "127.0.0.1:8081": true,
		"127.0.0.9:9090": false, "[::1]:9090": false, "127.0.0.9:9091": true, "1.2.3.4:443": false, "1.2.3.5:443": true,
	} {
		if got := g.control("tcp", address, nil) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	for _, mine := range interfaces() {
		if g.check(netip.AddrPortFrom(mine, 9090)) == nil {
			t.Errorf("%s:9090 is ours and is reached", mine)
		}
	}
}

// canary counts what arrives on loopback.
func canary(t *testing.T) (port string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, hits
}

// TestHostileURLs asks the live client for loopback in every spelling; nothing arrives.
func TestHostileURLs(t *testing.T) {
	t.Parallel()
	port, hits := canary(t)
	client := NewClient(GuardConfig{Domain: scope.Live, AllowLoopback: true, AllowPrivate: true})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0",
		"0.0.0.0", "127.0.0.1.", "①②⑦.⓪.⓪.①", "127。0。0。1", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
		"[fe80::1%25lo]", "0x7f.1", "017700000001",
	} {
		response, err := client.Get("http://" + host + ":" + port + "/")
		if err == nil {
			_ = response.Body.Close()
			t.Errorf("%s was reached", host)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
}

// TestNoProxy connects past the environment's proxy, which would evade the guard.
func TestNoProxy(t *testing.T) {
	port, hits := canary(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+port)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:"+port)
	for _, domain := range []scope.Domain{scope.Live, scope.Test} {
		client := NewClient(GuardConfig{Domain: domain, AllowLoopback: true})
		if transport, ok := client.Transport.(*http.Transport); !ok || transport.Proxy != nil {
			t.Errorf("%s asks a proxy", domain)
		}
		if _, err := client.Get("http://10.0.0.1/"); !errors.Is(err, ErrForbiddenAddress) {
			t.Error(err)
		}
	}
	if hits.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

// TestRebinding resolves a name to a public address whenever somebody checks
// and to loopback whenever somebody might connect, 200 times, mixed.
func TestRebinding(t *testing.T) {
	t.Parallel()
	port, hits := canary(t)
	server := newNameServer(t)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.address)
	}}
	live := NewClient(GuardConfig{Domain: scope.Live, AllowLoopback: true, Resolver: resolver})
	for i := range 200 {
		if i%2 == 0 { // somebody's check before, which sees another answer than the connection will
			_, _ = resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
		}
		response, err := live.Get("http://rebind.example.com:" + port + "/")
		if err == nil {
			_ = response.Body.Close()
			t.Fatalf("flip %d was reached", i)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d of 200 arrived", hits.Load())
	}
	if server.loopback.Load() < 50 {
		t.Errorf("only %d answers said loopback: the test proves nothing", server.loopback.Load())
	}
	// The same name does arrive where loopback is allowed: the guard is what stops it.
	open := NewClient(GuardConfig{Domain: scope.Test, AllowLoopback: true, Resolver: resolver})
	for hits.Load() == 0 && server.loopback.Load() < 1000 {
		if response, err := open.Get("http://rebind.example.com:" + port + "/"); err == nil {
			_ = response.Body.Close()
		}
	}
	if hits.Load() == 0 {
		t.Error("loopback was not reached although it is allowed")
	}
}

// nameServer answers every question for an IPv4 address in turn with one that
// nothing may be sent to and with loopback.
type nameServer struct {
	address  string
	loopback atomic.Int64
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &nameServer{address: conn.LocalAddr().String()}
	go func() {
		packet, flip := make([]byte, 1500), false
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			answer, isA := reply(packet[:n])
			if isA {
				// 192.0.2.1 is a documentation address: even unguarded nothing would answer.
				ip := [4]byte{192, 0, 2, 1}
				if flip = !flip; !flip {
					ip = [4]byte{127, 0, 0, 1}
					s.loopback.Add(1)
				}
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ip[0], ip[1], ip[2], ip[3])
				answer[7] = 1
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return s
}

// reply is the head of a DNS answer with the question repeated, and whether
// the question is for an IPv4 address.
func reply(query []byte) (answer []byte, isA bool) {
	end := 12
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5
	if len(query) < end {
		return query, false
	}
	answer = append([]byte(nil), query[:end]...)
	answer[2], answer[3] = 0x85, 0x80 // an authoritative answer
	copy(answer[6:12], make([]byte, 6))
	return answer, query[end-4] == 0 && query[end-3] == 1
}
