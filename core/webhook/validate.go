package webhook

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook/guard"
)

// Check reports the errors of a new endpoint of the domain, all fields at once, by the
// interface's names. The target of an address is checked at each connection, after DNS.
func (c Create) Check(domain scope.Domain) fault.Fields {
	return Change{Name: &c.Name, URL: &c.URL, Types: &c.Types, Headers: &c.Headers}.Check(domain)
}

// Check reports the errors of a change.
func (c Change) Check(domain scope.Domain) fault.Fields {
	fields := fault.Fields{}
	if c.Name != nil {
		if sentence := contact.CheckLabel(*c.Name); sentence != "" {
			fields.Add("type", sentence)
		}
	}
	if c.URL != nil {
		if sentence := validURL(domain, *c.URL); sentence != "" {
			fields.Add("url", sentence)
		}
	}
	if c.Types != nil {
		CheckTypes(*c.Types, fields)
	}
	if c.Headers != nil {
		checkHeaders(*c.Headers, fields)
	}
	return fields
}

// CheckTypes reports the errors of an endpoint's event types.
func CheckTypes(types []string, fields fault.Fields) {
	for i, kind := range types {
		switch {
		case !slices.Contains(Types(), kind):
			fields.Add("events", fmt.Sprintf("%.64q is no type of event.", kind))
		case slices.Contains(types[:i], kind):
			fields.Add("events", kind+" is named twice.")
		}
		if len(fields["events"]) == maxSentences {
			return
		}
	}
}

// maxSentences is how many of a list's items are complained about.
const maxSentences = 5

func validURL(domain scope.Domain, address string) string {
	switch {
	case address == "":
		return "Is required."
	case len(address) > MaxURL:
		return fmt.Sprintf("May have at most %d characters.", MaxURL)
	case !utf8.ValidString(address) || strings.ContainsFunc(address, isHidden):
		return "May not hold spaces or invisible characters."
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return "Must be a full URL with a host, such as https://example.com/webhooks."
	case u.Scheme != "https" && (domain == scope.Live || u.Scheme != "http"):
		if domain == scope.Live {
			return "Must begin with https:// in the live domain."
		}
		return "Must begin with https:// or http://."
	case u.User != nil:
		return "May not hold a user name or password."
	case strings.Contains(address, "#"):
		return "May not hold a fragment (#)."
	case !allowedPort(u.Port()):
		return "May use port 80, 443 or one from 1024 on that no other protocol is known by."
	}
	return hostProblem(domain, u.Hostname())
}

// hostProblem tells at once of hosts that no delivery could reach. What a name
// stands for is asked at each connection.
func hostProblem(domain scope.Domain, host string) string {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	ip, err := netip.ParseAddr(host)
	switch {
	case strings.Contains(host, "%"):
		return "May not name a network interface (%)."
	case err == nil && domain == scope.Live && !guard.AllowsLive(netip.AddrPortFrom(ip, 443)):
		return "Must lead to the public internet: this address is private, local or reserved."
	case err == nil:
		return ""
	case strings.HasSuffix(host, "."):
		return "Must name the host without a dot at its end."
	case len(host) > maxHost || slices.Contains(labels, ""):
		return "Must name a host: labels with one dot between them, at most 253 characters."
	case isNumber(last):
		return "Must write an IP address as four decimal numbers, without zeros in front."
	}
	return ""
}

const maxHost = 253 // characters, RFC 1035

// isNumber reports what some resolvers read as part of an address: decimal,
// octal or hexadecimal.
func isNumber(label string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(label, "0x"), 16, 64)
	decimal := strings.Trim(label, "0123456789") == ""
	return label == "0x" || decimal || strings.HasPrefix(label, "0x") && err == nil
}

// HostOf is a URL's host name in the one form that requests at once are counted by.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// originOf is what of a URL names the server: scheme, host and port.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + " " + HostOf(address) + " " + port
}

// isHidden reports whether a character is a space or control, or shows nothing or turns
// the direction of text.
func isHidden(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }

func allowedPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && guard.PortAllowed(uint16(n))
}
