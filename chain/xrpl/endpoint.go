package xrpl

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"cointill/chain/node"
)

// endpoint is a server's URL, split into its parts.
type endpoint struct {
	base         string // scheme://host:port/path without user and password
	host         string // host:port, for the log
	header       http.Header
	useWebSocket bool   // send commands over a websocket
	stream       string // ws(s)://… of a websocket that announces new ledgers; "" means none
}

// parseEndpoint reads a server's URL. Its errors never contain any part of the text, which may
// hold a password even if it is malformed.
func parseEndpoint(text string) (endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "" {
		return endpoint{}, errors.New("its URL can't be read: write https://host:port or wss://host:port, with " +
			"special characters percent-encoded")
	}
	e := endpoint{host: u.Host}
	switch u.Scheme {
	case "http", "https":
	case "ws", "wss":
		e.useWebSocket = true
	default:
		return endpoint{}, errors.New("its URL must begin with http, https, ws or wss")
	}
	e.base = u.Scheme + "://" + u.Host + u.EscapedPath()
	if e.useWebSocket {
		e.stream = e.base
	}
	if u.User != nil {
		password, _ := u.User.Password()
		e.header = node.BasicAuth(u.User.Username(), password)
	}
	return e, e.parseOptions(u.RawQuery)
}

// parseOptions reads the query of the URL.
func (e *endpoint) parseOptions(raw string) error {
	wrong := errors.New("the query in its URL can only be stream=ws://host:port, once, and only if the URL begins " +
		"with http or https")
	query, err := url.ParseQuery(raw)
	if err != nil {
		return wrong
	}
	for key, values := range query {
		if key != "stream" || len(values) != 1 || e.useWebSocket {
			return wrong
		}
		u, err := url.Parse(values[0])
		if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Hostname() == "" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" {
			return errors.New("stream in its URL must be ws://host:port or wss://host:port")
		}
		e.stream = u.String()
	}
	return nil
}
