package tron

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"cointill/chain/node"
)

// keyHeader is the header in which TronGrid, and providers like it, take the key of an account.
const keyHeader = "TRON-PRO-API-KEY"

// endpoint is a node's URL, split into its parts.
type endpoint struct {
	base   string // scheme://host:port/path without user and password; the path may hold a provider's key
	host   string // host:port, for the log
	header http.Header
	// solidity is where the paths /walletsolidity/… are served; "" means at base.
	solidity string
}

// parseEndpoint reads a node's URL. Its errors never contain any part of the text, which may hold a password or a
// provider's key even if it is malformed.
func parseEndpoint(text string) (endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "" {
		return endpoint{}, errors.New("its URL can't be read: write https://key@host:port/path, with special " +
			"characters percent-encoded")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, errors.New("its URL must begin with http or https")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(query) > 1 || len(query) == 1 && len(query["solidity"]) != 1 {
		return endpoint{}, errors.New("the query in its URL can only be solidity=http://host:port")
	}
	e := endpoint{host: u.Host, header: authHeader(u), base: joinBase(u)}
	if query.Has("solidity") {
		s, err := url.Parse(query.Get("solidity"))
		if err != nil || s.Scheme != "http" && s.Scheme != "https" || s.Hostname() == "" || s.Fragment != "" ||
			s.RawQuery != "" || s.User != nil {
			return endpoint{}, errors.New("solidity in its URL must be http://host:port or https://host:port, without " +
				"a user: it gets the ones of the node")
		}
		e.solidity = joinBase(s)
	}
	return e, nil
}

// joinBase returns a URL without user and query, and without a slash at its end.
func joinBase(u *url.URL) string {
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/")
}

// authHeader returns the header with the user of a URL: a key, or a user and a password. It is nil if the URL has
// none.
func authHeader(u *url.URL) http.Header {
	if u.User == nil {
		return nil
	}
	if password, ok := u.User.Password(); ok {
		return node.BasicAuth(u.User.Username(), password)
	}
	return http.Header{http.CanonicalHeaderKey(keyHeader): {u.User.Username()}}
}
