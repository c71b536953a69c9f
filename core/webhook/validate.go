package webhook

import (
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
		fields.AddMessage("type", contact.CheckLabel(*c.Name))
	}
	if c.URL != nil {
		fields.AddMessage("url", CheckURL(domain, *c.URL))
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
			fields.Add("events", "%.64q is no type of event.", kind)
		case slices.Contains(types[:i], kind):
			fields.Add("events", "%s is named twice.", kind)
		}
		if len(fields["events"]) == maxSentences {
			return
		}
	}
}

// maxSentences is how many of a list's items are complained about.
const maxSentences = 5

// CheckURL says why nothing can be posted to an address in a domain; zero when it can.
func CheckURL(domain scope.Domain, address string) fault.Message {
	switch {
	case address == "":
		return fault.NewMessage("Is required.")
	case len(address) > MaxURL:
		return fault.NewMessage("May have at most %d characters.", MaxURL)
	case !utf8.ValidString(address) || strings.ContainsFunc(address, isHidden):
		return fault.NewMessage("May not hold spaces or invisible characters.")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return fault.NewMessage("Must be a full URL with a host, such as https://example.com/webhooks.")
	case u.Scheme != "https" && (domain == scope.Live || u.Scheme != "http"):
		if domain == scope.Live {
			return fault.NewMessage("Must begin with https:// in the live domain.")
		}
		return fault.NewMessage("Must begin with https:// or http://.")
	case u.User != nil:
		return fault.NewMessage("May not hold a user name or password.")
	case strings.Contains(address, "#"):
		return fault.NewMessage("May not hold a fragment (#).")
	case !allowedPort(u.Port()):
		return fault.NewMessage("May use port 80, 443 or one from 1024 on that no other protocol is known by.")
	}
	return hostProblem(domain, u.Hostname())
}

// hostProblem tells at once of hosts that no delivery could reach. What a name
// stands for is asked at each connection.
func hostProblem(domain scope.Domain, host string) fault.Message {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	ip, err := netip.ParseAddr(host)
	switch {
	case strings.Contains(host, "%"):
		return fault.NewMessage("May not name a network interface (%%).")
	case err == nil && domain == scope.Live && !guard.AllowsLive(netip.AddrPortFrom(ip, 443)):
		return fault.NewMessage("Must lead to the public internet: this address is private, local or reserved.")
	case err == nil:
		return fault.Message{}
	case strings.HasSuffix(host, "."):
		return fault.NewMessage("Must name the host without a dot at its end.")
	case len(host) > maxHost || slices.Contains(labels, "") || strings.ContainsFunc(host, isNoHostPart):
		return fault.NewMessage("Must name a host: labels of letters, digits and hyphens, with one dot between them, at " +
			"most 253 characters.")
	case isNumber(last):
		return fault.NewMessage("Must write an IP address as four decimal numbers, without zeros in front.")
	}
	return fault.Message{}
}

const maxHost = 253 // characters, RFC 1035

// isNoHostPart reports an ASCII character that no name of a host has. Others may be of an international name.
func isNoHostPart(r rune) bool {
	return r <= unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

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
