package ethereum

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"cointill/chain/node"
)

// endpoint is a node's URL, split into its parts.
type endpoint struct {
	// scheme://host:port/path?query without user and password; path and query may hold a provider's key
	base         string
	host         string // host:port, for the log
	header       http.Header
	stream       string      // ws(s)://… of a websocket that announces new blocks; "" means none
	streamHeader http.Header // authenticates the websocket
	traceBlocks  bool        // read internal transfers of every block from this node
	noPending    bool        // do not ask for pending transactions
	idleLogs     bool        // while nothing is awaited, read the logs of tokens alone
}

// parseEndpoint reads a node's URL. Its errors never contain any part of the text, which may hold
// a password or a provider's key even if it is malformed.
func parseEndpoint(text string) (endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "" {
		return endpoint{}, errors.New("its URL can't be read: write https://host:port/path, with special characters " +
			"percent-encoded")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, errors.New("its URL must begin with http or https; name a websocket that announces new " +
			"blocks as ?stream=wss://…")
	}
	e := endpoint{host: u.Host, header: basicAuth(u)}
	rest, err := e.takeOptions(u.RawQuery)
	if err != nil {
		return endpoint{}, err
	}
	e.base = u.Scheme + "://" + u.Host + u.EscapedPath()
	if rest != "" {
		e.base += "?" + rest
	}
	return e, nil
}

// basicAuth returns the header with the user and password of a URL, or nil if the URL has none.
func basicAuth(u *url.URL) http.Header {
	if u.User == nil {
		return nil
	}
	password, _ := u.User.Password()
	return node.BasicAuth(u.User.Username(), password)
}

// takeOptions reads this package's options from the query of the URL and returns the remaining
// query, which may hold a provider's key.
func (e *endpoint) takeOptions(raw string) (rest string, err error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return "", errors.New("the query in its URL can't be read")
	}
	for _, one := range []struct{ key, value string }{{"trace", "blocks"}, {"pending", "off"}, {"idle", "logs"}} {
		if values, ok := query[one.key]; ok && (len(values) != 1 || values[0] != one.value) {
			return "", errors.New(one.key + " in its URL can only be " + one.value)
		}
	}
	e.traceBlocks, e.noPending, e.idleLogs = query.Has("trace"), query.Has("pending"), query.Has("idle")
	if values, ok := query["stream"]; ok {
		u, err := url.Parse(values[0])
		if err != nil || len(values) != 1 || u.Scheme != "ws" && u.Scheme != "wss" || u.Hostname() == "" ||
			u.Fragment != "" {
			return "", errors.New("stream in its URL must be ws://host:port or wss://host:port, percent-encoded if " +
				"it has a query")
		}
		e.streamHeader, u.User = basicAuth(u), nil
		e.stream = u.String()
	}
	for _, key := range []string{"trace", "pending", "idle", "stream"} {
		query.Del(key)
	}
	return query.Encode(), nil
}
