package web

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// Base is the address at which browsers and merchants reach a server.
type Base struct {
	URL      string // scheme and host, without a slash at its end
	HTTPS    bool
	Loopback bool // its host is this machine, for itself alone
	port     string
}

// ParseBase reads a base URL. It is https, or plain http on a loopback host: login cookies
// must not cross an open network. No error repeats a password.
func ParseBase(text string) (Base, error) {
	parsed, err := url.Parse(text)
	switch {
	case err == nil && parsed.User != nil, err != nil && strings.Contains(text, "@"):
		return Base{}, errors.New(
			"the base URL must not hold a user name or a password: every link and payment page begins with it. " +
				"Leave out what stands before the @")
	case err != nil || parsed.Host == "" || parsed.RawQuery != "" || parsed.Fragment != "" ||
		strings.Trim(parsed.Path, "/") != "":
		return Base{}, errors.New("the base URL must be a scheme and a host, for example https://pay.example.com")
	}
	host := parsed.Hostname()
	address, _ := netip.ParseAddr(host) // a name gives none
	b := Base{URL: parsed.Scheme + "://" + parsed.Host, HTTPS: parsed.Scheme == "https", port: parsed.Port(),
		Loopback: host == "localhost" || address.IsLoopback()}
	if !b.HTTPS && !(parsed.Scheme == "http" && b.Loopback) {
		return Base{}, errors.New("the base URL " + text +
			" must begin with https://: plain http works on loopback addresses only")
	}
	return b, nil
}

// origins are those that forms come from. People type any name of their own machine.
func (b Base) origins() []string {
	list := []string{b.URL}
	if !b.Loopback {
		return list
	}
	scheme, _, _ := strings.Cut(b.URL, "://")
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if b.port != "" {
			name += ":" + b.port
		}
		list = append(list, scheme+"://"+name)
	}
	return list
}
