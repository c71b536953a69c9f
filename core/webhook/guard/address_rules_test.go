package guard

import (
	"errors"
	"net/netip"
	"strconv"
	"testing"

	"cointill/core/scope"
)

// TestGuardRefusesPorts (WH-3): at a public address deliveries reach ports 80, 443 and
// those from 1024 on, less the ones of other protocols.
func TestGuardRefusesPorts(t *testing.T) {
	t.Parallel()
	g := newGuard(Config{Domain: scope.Test})
	for port, want := range map[int]bool{
		0: false, 1: false, 22: false, 79: false, 80: true, 81: false, 442: false, 443: true, 444: false,
		1023: false, 1024: true, 6379: false, 6380: true, 27017: false, 65535: true,
	} {
		err := g.controlDial("tcp", "1.1.1.1:"+strconv.Itoa(port), nil)
		if (err == nil) != want || err != nil && !errors.Is(err, ErrForbiddenAddress) {
			t.Errorf("control(1.1.1.1:%d) = %v, want it allowed: %v", port, err, want)
		}
	}
}

// TestGuardRefusesAddressesWithoutMeaning (WH-3): no address, and a public one that names
// an interface of this machine, are refused.
func TestGuardRefusesAddressesWithoutMeaning(t *testing.T) {
	t.Parallel()
	g := newGuard(Config{Domain: scope.Test, AllowLoopback: true, AllowPrivate: true})
	for name, ip := range map[string]netip.Addr{
		"none":                           {},
		"public with a zone":             netip.MustParseAddr("2606:4700::1111").WithZone("eth0"),
		"public as IPv6 with a zone":     netip.MustParseAddr("::ffff:1.1.1.1").WithZone("eth0"),
		"loopback as IPv6 with a zone":   netip.MustParseAddr("::ffff:127.0.0.1").WithZone("lo"),
		"private as IPv6 with a zone":    netip.MustParseAddr("::ffff:10.0.0.1").WithZone("eth0"),
		"a cloud's metadata with a zone": netip.MustParseAddr("fd00:ec2::254").WithZone("eth0"),
	} {
		if err := g.checkAddress(netip.AddrPortFrom(ip, 443)); !errors.Is(err, ErrForbiddenAddress) {
			t.Errorf("check(%s: %s) = %v, want %v", name, ip, err, ErrForbiddenAddress)
		}
	}
}

// TestLiveAddressesAreThoseThatDeliveriesReach checks what is said of addresses before any delivery.
func TestLiveAddressesAreThoseThatDeliveriesReach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"1.1.1.1:443": true, "127.0.0.1:443": false, "[fd00::1]:443": false} {
		if got := AllowsLive(netip.MustParseAddrPort(text)); got != want {
			t.Errorf("a live delivery to %s is allowed: %v, want %v", text, got, want)
		}
	}
}
