package bitcoin

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"cointill/chain/node"
)

// endpoint is the parsed URL of a node.
type endpoint struct {
	base         string // http(s)://host:port/path, without user, password and query
	host         string // host:port, for the log
	esplora      bool
	login        *login
	cert         string   // file of a self-signed certificate of the node; "" for a public certificate
	zmq          []string // host:port of each publisher
	websocketURL string   // ws(s)://host:port/ws of btcd's notifications; "" for none
}

// parseEndpoint parses a node's URL. Its errors never contain any of the text, which may be a
// password even if it is malformed.
func parseEndpoint(text string) (endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return endpoint{}, errors.New("its URL can't be read: write http://user:password@host:port, with special " +
			"characters percent-encoded")
	}
	e := endpoint{host: u.Host, login: &login{}}
	scheme := u.Scheme
	switch u.Scheme {
	case "http", "https":
	case "esplora+http", "esplora+https":
		e.esplora, scheme = true, strings.TrimPrefix(u.Scheme, "esplora+")
	case "btcd+ws", "btcd+wss":
		scheme = map[string]string{"btcd+ws": "http", "btcd+wss": "https"}[u.Scheme]
		e.websocketURL = strings.TrimPrefix(u.Scheme, "btcd+") + "://" + u.Host + "/ws"
	default:
		return endpoint{}, errors.New("its URL must begin with http, https, btcd+ws, btcd+wss, esplora+http or " +
			"esplora+https")
	}
	e.base = scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.User != nil {
		e.login.user = u.User.Username()
		e.login.password, _ = u.User.Password()
	}
	return e, e.parseOptions(u.RawQuery)
}

// parseOptions parses the query of the URL.
func (e *endpoint) parseOptions(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("what stands behind ? in its URL can't be read")
	}
	for key, values := range query {
		switch {
		case key == "cookie" && !e.esplora && len(values) == 1 && values[0] != "":
			e.login.cookie = values[0]
		case key == "cert" && len(values) == 1 && values[0] != "":
			e.cert = values[0]
		case key == "zmq" && !e.esplora && len(values) <= node.MaxNodes:
			for _, value := range values {
				at, err := parsePublisher(value)
				if err != nil {
					return err
				}
				e.zmq = append(e.zmq, at)
			}
		default:
			return errors.New("behind ? in its URL only cookie, cert and zmq are known, the first two once, and " +
				"neither cookie nor zmq for Esplora")
		}
	}
	if e.login.cookie != "" && e.login.user != "" {
		return errors.New("its URL has both a user and a cookie file: keep one")
	}
	return nil
}

// parsePublisher parses the address of a ZeroMQ publisher.
func parsePublisher(text string) (string, error) {
	rest, ok := strings.CutPrefix(text, "tcp://")
	host, port, err := net.SplitHostPort(rest)
	if !ok || err != nil || host == "" || port == "" {
		return "", errors.New("zmq in its URL must be tcp://host:port")
	}
	return rest, nil
}
