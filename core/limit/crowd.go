package limit

import "net/netip"

// Neighbourhood is what counts as one address: in IPv6 a customer has a whole /64.
func Neighbourhood(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil || address.Unmap().Is4() {
		return ip
	}
	prefix, _ := address.Prefix(64) // a valid IPv6 address has one
	return prefix.String()
}

const (
	maxApart = 50_000       // addresses that are counted apart in one process, of all kinds of requests
	roomy    = maxApart / 2 // so many are counted apart wherever they come from
)

// wider are the networks around an address, and how many addresses of each are
// counted apart once there is little room: a site has a /48 of IPv6, a provider a
// /32, and neither is to take the places of everybody.
var wider = [...]struct{ v4, v6, apart int }{{24, 48, 256}, {16, 32, 1024}}

// surroundings are the networks around an address, the narrowest first; none of what is no address.
func surroundings(ip string) (around []netip.Prefix) {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return nil
	}
	address = address.Unmap()
	for _, w := range wider {
		bits := w.v6
		if address.Is4() {
			bits = w.v4
		}
		prefix, _ := address.Prefix(bits) // each has so many
		around = append(around, prefix)
	}
	return around
}

// crowd is how many addresses are counted apart in each network, and under the
// zero prefix in all. What it holds is bounded by maxApart.
type crowd map[netip.Prefix]int

// enter tells with whom a new address is counted: "" when apart, else the narrowest of
// its networks that has its share of places, or when there are no more places at all,
// everybody whom that concerns.
func (c crowd) enter(around []netip.Prefix) (shared string) {
	all := netip.Prefix{}
	for i, network := range around {
		if c[all] >= roomy && c[network] >= wider[i].apart {
			return network.String()
		}
	}
	if c[all] >= maxApart {
		return "overflow"
	}
	c[all]++
	for i, network := range around {
		if c[network]++; c[network] > wider[i].apart {
			break // who fills their own network doesn't fill the one around it
		}
	}
	return ""
}
