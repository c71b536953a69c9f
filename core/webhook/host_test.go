package webhook

import "testing"

// TestHostOfNoURL: what is no URL has no host and no origin, so that it is equal to none.
func TestHostOfNoURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"https://Shop.Example./hook": {"shop.example", "https shop.example 443"},
		"http://shop.example":        {"shop.example", "http shop.example 80"},
		"https://shop.example:8443/": {"shop.example", "https shop.example 8443"},
		"https://[::1":               {}, "https://%zz/": {}, "\x7f": {},
	} {
		if host, origin := HostOf(address), originOf(address); host != want[0] || origin != want[1] {
			t.Errorf("%q has the host %q and the origin %q, want %q and %q", address, host, origin, want[0], want[1])
		}
	}
}
