// Package guard makes the HTTP client that brings deliveries to merchants' servers, and
// decides which addresses it may reach.
package guard

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"cointill/core/scope"
)

// ErrForbiddenAddress is why a connection was not made: the address that the
// host name stands for is not on the public internet, or is our own.
var ErrForbiddenAddress = errors.New("guard: the address is not allowed")

const (
	// Timeout is how long an attempt may take in all.
	Timeout = 15 * time.Second
	// PerHost is how many requests to a host name run at once, for the endpoints of all businesses.
	PerHost = 32
	// maxHeader is how many bytes of an answer's header are read.
	maxHeader = 16 << 10
)

// Config says where deliveries of one domain may go beyond the public
// internet. The live domain ignores both permissions.
type Config struct {
	Domain scope.Domain
	// AllowLoopback lets test deliveries reach this machine, for development.
	AllowLoopback bool
	// AllowPrivate lets test deliveries reach private networks, for development.
	AllowPrivate bool
	// Own are the addresses that Cointill itself listens on, never reached.
	// Port 0 means every port; an unspecified IP means every address of this machine.
	Own []netip.AddrPort
	// Resolver looks host names up; nil is the machine's.
	Resolver *net.Resolver
	// Idle is how many connections are kept open between deliveries; 0 is 256.
	Idle int
}

// Address ranges outside of the public internet. Of IPv6 only 2000::/3 is public, except
// the ranges here. Shared, translated and documentation ranges are included.
var (
	public6 = netip.MustParsePrefix("2000::/3")
	denied  = parsePrefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20")
	loopback = parsePrefixes("127.0.0.0/8", "::1/128")
	// private leaves out 100.64.0.0/10, where a cloud keeps its metadata service.
	private = parsePrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
	// metadata are clouds' services for their own machines: two inside fc00::/7,
	// and one of Azure that looks public.
	metadata = parsePrefixes("fd00:ec2::/32", "fd20:ce::/32", "168.63.129.16/32")
)

func parsePrefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func containsIP(list []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// NewClient makes the client that brings deliveries to strangers' servers. Its
// guard runs after DNS, on the very address that is dialled, so that a name
// that changes its mind gains nothing. It follows no redirect, asks no proxy,
// unpacks nothing, and keeps a connection, to an address that passed, only for a moment.
func NewClient(c Config) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Resolver: c.Resolver, Control: newGuard(c).controlDial}
	oneProtocol := new(http.Protocols)
	oneProtocol.SetHTTP1(true)
	return &http.Client{
		Timeout:       Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, // not the environment's either: a proxy would connect where the guard can't see
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, address)
			},
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true,
			MaxIdleConns:           cmp.Or(c.Idle, 256),
			MaxIdleConnsPerHost:    PerHost,
			IdleConnTimeout:        20 * time.Second,
			Protocols:              oneProtocol,
		},
	}
}

// guard decides on addresses.
type guard struct {
	allowed []netip.Prefix // exceptions from denied
	own     []netip.AddrPort
}

func newGuard(c Config) guard {
	g := guard{}
	if c.Domain == scope.Test && c.AllowLoopback {
		g.allowed = append(g.allowed, loopback...)
	}
	if c.Domain == scope.Test && c.AllowPrivate {
		g.allowed = append(g.allowed, private...)
	}
	for _, own := range c.Own {
		ip := own.Addr().Unmap()
		g.own = append(g.own, netip.AddrPortFrom(ip, own.Port()))
		if ip.IsUnspecified() {
			for _, mine := range listInterfaceAddresses() {
				g.own = append(g.own, netip.AddrPortFrom(mine, own.Port()))
			}
		}
	}
	return g
}

// listInterfaceAddresses returns the addresses of this machine.
func listInterfaceAddresses() (list []netip.Addr) {
	addresses, _ := net.InterfaceAddrs() // none when they can't be read
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p.Addr().Unmap())
		}
	}
	return list
}

// controlDial refuses a connection to an address that the guard forbids. The dialer calls it after DNS.
func (g guard) controlDial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrForbiddenAddress
	}
	return g.checkAddress(to)
}

// AllowsLive reports whether deliveries of the live domain may reach an address.
func AllowsLive(to netip.AddrPort) bool {
	return newGuard(Config{Domain: scope.Live}).checkAddress(to) == nil
}

func (g guard) checkAddress(to netip.AddrPort) error {
	ip := to.Addr().Unmap()
	if !PortAllowed(to.Port()) {
		return ErrForbiddenAddress
	}
	if !ip.IsValid() || to.Addr().Zone() != "" || g.isOwn(ip, to.Port()) || containsIP(metadata, ip) {
		return ErrForbiddenAddress
	}
	if containsIP(g.allowed, ip) {
		return nil
	}
	if ip.Is6() && !public6.Contains(ip) || containsIP(denied, ip) {
		return ErrForbiddenAddress
	}
	return nil
}

// isOwn reports one of our own listeners. A listener on every address is also
// reached by any loopback address.
func (g guard) isOwn(ip netip.Addr, port uint16) bool {
	for _, own := range g.own {
		if own.Port() != 0 && own.Port() != port {
			continue
		}
		if own.Addr() == ip || own.Addr().IsUnspecified() && ip.IsLoopback() {
			return true
		}
	}
	return false
}

// foreign are ports from 1024 on at which other protocols listen, databases and
// control planes above all: a request that means nothing to them may do harm.
var foreign = []uint16{1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 5060, 5061,
	5432, 5672, 5900,
	5984, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 8332, 8333, 9042, 9092, 9200, 9300, 10250, 11211, 18332,
	27017}

// PortAllowed reports whether deliveries may reach a port at an address that they may reach.
func PortAllowed(port uint16) bool {
	return port == 80 || port == 443 || port >= 1024 && !slices.Contains(foreign, port)
}
