package limit

import "net/netip"

// Neighbourhood is what counts as one address: in IPv6 a customer has a whole /64.
func Neighbourhood(ip string) string { return cutIPv6(ip, 64) }

// Site is what one customer of a provider may have: in IPv6 a whole /48.
func Site(ip string) string { return cutIPv6(ip, 48) }

// cutIPv6 returns the first bits of an IPv6 address, and any other text as it is.
func cutIPv6(ip string, bits int) string {
	address, err := netip.ParseAddr(ip)
	if err != nil || address.Unmap().Is4() {
		return ip
	}
	prefix, _ := address.Prefix(bits) // each has so many
	return prefix.String()
}

const (
	maxApart = 50_000       // addresses that are counted apart in one process, of all kinds of requests
	roomy    = maxApart / 2 // below so many, a network may have more than are always its own
)

// wider are the networks around an address: a site has a /48 of IPv6, a provider a /32,
// and neither may take all places. A network always has some places of its own; while
// there is room it may have as many as are left, or a part of that. So a provider's
// customers are counted separately, and a network at its limit leaves as many to others.
var wider = [...]struct{ v4, v6, always, part int }{{24, 48, 256, 4}, {16, 32, 1024, 1}}

// listNetworks lists the networks around an address, the narrowest first; none for a text that is not an address.
func listNetworks(ip string) (around []netip.Prefix) {
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

// crowd is how many addresses are counted apart in each network, and under the zero prefix in
// all. Its size is bounded by maxApart.
type crowd map[netip.Prefix]held

// held counts the places of a network. A full network doesn't fill the one around it:
// places beyond its guaranteed ones don't count as few there.
type held struct{ all, few int }

// addAddress tells with whom a new address is counted: "" when apart, else the narrowest of
// its networks that has its share of places, or when there are no more places at all,
// everybody whom that concerns.
func (c crowd) addAddress(around []netip.Prefix) (shared string) {
	total := netip.Prefix{}
	room := roomy - c[total].all
	for i, network := range around {
		if has := c[network]; has.few >= wider[i].always && has.all >= room/wider[i].part {
			return network.String()
		}
	}
	if c[total].all >= maxApart {
		return "overflow"
	}
	c[total] = held{all: c[total].all + 1}
	few := 1
	for i, network := range around {
		has := held{c[network].all + 1, c[network].few + few}
		if c[network] = has; has.few > wider[i].always {
			few = 0
		}
	}
	return ""
}
