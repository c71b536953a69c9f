package guard

import (
	"context"
	"errors"
	"net"
	"net/http"
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
	"168.63.129.16", "169.254.169.253", "192.31.196.1", "192.52.193.1", "192.175.48.1", "::ffff:100.100.100.200", "::ffff:168.63.129.16",
	"::ffff:0:169.254.169.254", "64:ff9b::a9fe:a9fe", "2001:2::1", "2001:20::1", "2002:a9fe:a9fe::1", "2620:4f:8000::1", "3ffe::1", "fd00:ec2::23",
}

var public = []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.167.1.1", "223.255.255.255",
	"2606:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "2001:200::1"}

// TestGuard (WH-3) asks the guard itself about addresses of every kind.
func TestGuard(t *testing.T) {
	t.Parallel()
	live := newGuard(Config{Domain: scope.Live, AllowLoopback: true, AllowPrivate: true})
	test := newGuard(Config{Domain: scope.Test})
	open := newGuard(Config{Domain: scope.Test, AllowLoopback: true, AllowPrivate: true})
	loop := newGuard(Config{Domain: scope.Test, AllowLoopback: true})
	port := func(ip string) string { return net.JoinHostPort(ip, "443") }
	for _, ip := range hostile {
		for name, g := range map[string]guard{"live": live, "test": test} {
			if err := g.controlDial("tcp", port(ip), nil); !errors.Is(err, ErrForbiddenAddress) {
				t.Errorf("%s reaches %s", name, ip)
			}
		}
	}
	for _, ip := range public {
		for _, g := range []guard{live, test, open, loop} {
			if err := g.controlDial("tcp", port(ip), nil); err != nil {
				t.Errorf("%s is refused", ip)
			}
		}
	}
	for ip, want := range map[string][2]bool{ // with loopback; with loopback and private
		"127.0.0.1": {true, true}, "::1": {true, true}, "::ffff:127.0.0.1": {true, true}, "10.1.2.3": {false, true},
		"fd12::1": {false, true}, "192.168.0.9": {false, true}, "169.254.169.254": {false, false}, "fd00:ec2::254": {false, false},
		"100.100.100.200": {false, false}, "0.0.0.0": {false, false}, "fe80::1": {false, false}, "fe80::1%lo": {false, false},
	} {
		if got := loop.controlDial("tcp", port(ip), nil) == nil; got != want[0] {
			t.Errorf("with loopback allowed, %s: %v", ip, got)
		}
		if got := open.controlDial("tcp", port(ip), nil) == nil; got != want[1] {
			t.Errorf("with private allowed, %s: %v", ip, got)
		}
	}
	for _, nonsense := range []string{"", "example.com:443", "127.0.0.1", "[::1", "1.1.1.1:99999"} {
		if open.controlDial("tcp", nonsense, nil) == nil {
			t.Errorf("%q passes", nonsense)
		}
	}
}

// TestGuardOwn (WH-3) never lets a delivery come to our own listeners, whatever else is
// allowed.
func TestGuardOwn(t *testing.T) {
	t.Parallel()
	g := newGuard(Config{Domain: scope.Test, AllowLoopback: true, AllowPrivate: true, Own: []netip.AddrPort{
		netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("0.0.0.0:9090"), netip.MustParseAddrPort("1.2.3.4:0"),
	}})
	for address, want := range map[string]bool{
		"127.0.0.1:8080": false, "[::ffff:127.0.0.1]:8080": false, "127.0.0.1:8081": true,
		"127.0.0.9:9090": false, "[::1]:9090": false, "127.0.0.9:9091": true, "1.2.3.4:443": false, "1.2.3.5:443": true, "1.1.1.1:9090": true,
	} {
		if got := g.controlDial("tcp", address, nil) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil || len(addresses) == 0 {
		t.Fatalf("this machine has the addresses %v, %v, want at least one", addresses, err)
	}
	for _, mine := range addresses {
		ip := mine.(*net.IPNet).IP.String()
		if g.controlDial("tcp", net.JoinHostPort(ip, "9090"), nil) == nil {
			t.Errorf("%s:9090 is ours and is reached", ip)
		}
	}
}

// canary counts connections to one port of some addresses of this machine.
func canary(t *testing.T, hosts ...string) (port string, hits *atomic.Int64) {
	t.Helper()
	hits, port = new(atomic.Int64), "0"
	for _, host := range hosts {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			if port == "0" {
				t.Fatal(err)
			}
			continue // a machine without IPv6, say
		}
		t.Cleanup(func() { _ = listener.Close() })
		_, port, _ = net.SplitHostPort(listener.Addr().String())
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				hits.Add(1)
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))
				_ = conn.Close()
			}
		}()
	}
	return port, hits
}

// spelled are hosts that stand for forbidden addresses in some resolver's eyes.
var spelled = []string{
	"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0",
	"0.0.0.0", "127.0.0.1.", "①②⑦.⓪.⓪.①", "127。0。0。1", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
	"[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
	"[fe80::1%25lo]", "0x7f.1", "017700000001", "0x7f.0x0.0x0.0x1", "00000177.0.0.1", "127.0.0.1%00", "169.254.43518",
	"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "1.1.1.1@127.0.0.1",
}

// TestTargets (WH-3) asks clients for every address and spelling that none may reach,
// while something listens on all addresses of this machine: nobody connects.
func TestTargets(t *testing.T) {
	t.Parallel()
	mine := []string{"127.0.0.1", "::1"}
	for _, ip := range listInterfaceAddresses() {
		if ip.Zone() == "" && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			mine = append(mine, ip.String())
		}
	}
	port, hits := canary(t, mine...)
	targets := append([]string{}, spelled...)
	for _, ip := range hostile {
		targets = append(targets, "["+ip+"]")
		if netip.MustParseAddr(ip).Is4() {
			targets[len(targets)-1] = ip
		}
	}
	if len(targets) < 60 {
		t.Errorf("only %d targets", len(targets))
	}
	var connected atomic.Int64
	clients := []*http.Client{
		NewClient(Config{Domain: scope.Live, AllowLoopback: true, AllowPrivate: true}),
		NewClient(Config{Domain: scope.Test}),
	}
	for _, client := range clients {
		transport := client.Transport.(*http.Transport)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err == nil {
				connected.Add(1)
			}
			return conn, err
		}
		for _, host := range targets {
			for _, at := range []string{port, "80", "6379", "22"} {
				response, err := client.Get("http://" + host + ":" + at + "/")
				if err == nil {
					_ = response.Body.Close()
					t.Errorf("%s was reached at %s", host, at)
				}
			}
		}
	}
	if connected.Load() != 0 || hits.Load() != 0 {
		t.Errorf("%d connections were made, %d arrived", connected.Load(), hits.Load())
	}
	// They do arrive where loopback is allowed: the guard is what stops them.
	response, err := NewClient(Config{Domain: scope.Test, AllowLoopback: true}).Get("http://127.0.0.1:" + port + "/")
	if err != nil || response.Body.Close() != nil || hits.Load() != 1 {
		t.Errorf("err = %v, hits.Load() = %v", err, hits.Load())
	}
}

// TestNoProxy (WH-6) connects past the environment's proxy, which would evade the guard.
func TestNoProxy(t *testing.T) {
	port, hits := canary(t, "127.0.0.1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+port)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:"+port)
	for _, domain := range []scope.Domain{scope.Live, scope.Test} {
		client := NewClient(Config{Domain: domain, AllowLoopback: true})
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

// TestRebinding (WH-4) resolves a name in turn to an address that deliveries may go to
// and to one that they may not, 1,000 times, with somebody else's questions between: the
// forbidden one sees no connection, the other one does.
func TestRebinding(t *testing.T) {
	t.Parallel()
	const flips = 1000
	port, fine := canary(t, "127.0.0.2")
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	forbidden := new(atomic.Int64)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			forbidden.Add(1)
			_ = conn.Close()
		}
	}()
	server := newNameServer(t, [4]byte{127, 0, 0, 2}, [4]byte{127, 0, 0, 1})
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.address)
	}}
	own := netip.MustParseAddrPort("127.0.0.1:" + port) // one of our own listeners: forbidden although loopback isn't
	client := NewClient(Config{Domain: scope.Test, AllowLoopback: true, Own: []netip.AddrPort{own}, Resolver: resolver})
	live := NewClient(Config{Domain: scope.Live, AllowLoopback: true, Resolver: resolver})
	refused := 0
	for i := range flips {
		if i%3 == 0 { // somebody's check before, which sees another answer than the connection will
			_, _ = resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
		}
		response, err := client.Get("http://rebind.example.com:" + port + "/")
		switch {
		case err == nil:
			_ = response.Body.Close()
		case errors.Is(err, ErrForbiddenAddress):
			refused++
		default:
			t.Fatalf("flip %d: %v", i, err)
		}
		if _, err := live.Get("http://rebind.example.com:" + port + "/"); !errors.Is(err, ErrForbiddenAddress) {
			t.Fatalf("flip %d in live: %v", i, err)
		}
	}
	if forbidden.Load() != 0 {
		t.Errorf("%d connections came to the forbidden address", forbidden.Load())
	}
	if n := int(fine.Load()); n+refused != flips || n < flips/4 || refused < flips/4 {
		t.Errorf("%d reached the address that is allowed and %d were refused, of %d: the test proves nothing", n, refused, flips)
	}
}

// nameServer answers every question for an IPv4 address with one of two in turn.
type nameServer struct{ address string }

func newNameServer(t *testing.T, one, other [4]byte) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			answer, isA := reply(packet[:n])
			if isA {
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, one[0], one[1], one[2], one[3])
				answer[7] = 1
				one, other = other, one
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return &nameServer{address: conn.LocalAddr().String()}
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
