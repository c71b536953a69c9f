package limit

import "net/netip"

// ClientPrefix returns the prefix that counts as one address: in IPv6 a customer has a whole /64.
func ClientPrefix(ip string) string { return cutIPv6(ip, 64) }

// SitePrefix returns the prefix that one customer of a provider may have: in IPv6 a whole /48.
func SitePrefix(ip string) string { return cutIPv6(ip, 48) }

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
	maxAddresses     = 50_000           // addresses with a count of their own in one process, of all kinds of requests
	softMaxAddresses = maxAddresses / 2 // below it a network may exceed its guaranteed places
)

// networkLevels are the networks around an address: a site has a /48 of IPv6, a provider a /32,
// and neither may take all places. A network always has some places of its own; while
// there is room it may have as many as are left, or a part of that. So a provider's
// customers are counted separately, and a network at its limit leaves as many to others.
var networkLevels = [...]struct{ v4, v6, always, part int }{{24, 48, 256, 4}, {16, 32, 1024, 1}}

// listNetworks lists the networks around an address, the narrowest first; none for a text that is not an address.
func listNetworks(ip string) (around []netip.Prefix) {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return nil
	}
	address = address.Unmap()
	for _, w := range networkLevels {
		bits := w.v6
		if address.Is4() {
			bits = w.v4
		}
		prefix, _ := address.Prefix(bits) // each has so many
		around = append(around, prefix)
	}
	return around
}

// networkCounts holds how many addresses of each network have a count of their own, and under the zero
// prefix how many in all. maxAddresses bounds its size.
type networkCounts map[netip.Prefix]networkCount

// networkCount counts the places of a network. A full network doesn't fill the one around it:
// places beyond its guaranteed ones don't count as guaranteed there.
type networkCount struct{ all, guaranteed int }

// addAddress adds an address. It returns the name of the count that the address shares: "" when it has
// its own, else the narrowest of its networks that has its share of places, or "overflow" when there
// are no more places at all.
func (c networkCounts) addAddress(around []netip.Prefix) (shared string) {
	total := netip.Prefix{}
	room := softMaxAddresses - c[total].all
	for i, network := range around {
		if has := c[network]; has.guaranteed >= networkLevels[i].always && has.all >= room/networkLevels[i].part {
			return network.String()
		}
	}
	if c[total].all >= maxAddresses {
		return "overflow"
	}
	c[total] = networkCount{all: c[total].all + 1}
	guaranteed := 1
	for i, network := range around {
		has := networkCount{c[network].all + 1, c[network].guaranteed + guaranteed}
		if c[network] = has; has.guaranteed > networkLevels[i].always {
			guaranteed = 0
		}
	}
	return ""
}
