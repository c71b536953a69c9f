package webhook

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
)

// Check lists what is wrong with a new endpoint of the domain, all fields at
// once, by the interface's names. Where an address leads is not asked here but
// at each connection, after DNS.
func (c Create) Check(domain scope.Domain) fault.Fields {
	return Change{Name: &c.Name, URL: &c.URL}.Check(domain)
}

// Check lists what is wrong with what is to change.
func (c Change) Check(domain scope.Domain) fault.Fields {
	fields := fault.Fields{}
	if c.Name != nil {
		if sentence := contact.Label(*c.Name); sentence != "" {
			fields.Add("type", sentence)
		}
	}
	if c.URL != nil {
		if sentence := validURL(domain, *c.URL); sentence != "" {
			fields.Add("url", sentence)
		}
	}
	return fields
}

func validURL(domain scope.Domain, address string) string {
	switch {
	case address == "":
		return "Is required."
	case len(address) > MaxURL:
		return "May have at most 2,048 characters."
	case !utf8.ValidString(address) || strings.ContainsFunc(address, hidden):
		return "May not hold spaces or invisible characters."
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
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
		return "May use port 80, 443 or any from 1024 on."
	}
	return ""
}

// hidden reports spaces, controls, and characters that show nothing or turn
// the direction of text.
func hidden(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }

func allowedPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.Atoi(port)
	return err == nil && (n == 80 || n == 443 || n >= 1024 && n <= 65535)
}
