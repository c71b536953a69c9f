package bitcoin

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"cointill/chain/node"
)

const (
	// maxList bounds a list of the mempool: half a million transaction ids.
	maxList = 32 << 20
	// maxHex bounds JSON with a block or transactions in hexadecimal.
	maxHex = 2*maxRaw + 64<<10
	// smallAnswer bounds every other answer.
	smallAnswer = 1 << 20
)

// login holds the credentials of requests. A cookie file contains user:password, and the node
// writes a new one at each start.
type login struct {
	user, password string
	cookie         string // path of the cookie file; "" if user and password come from the configuration

	mu         sync.Mutex
	cookieRead bool // the cookie was read
}

// loadCredentials returns the user and password to send.
func (l *login) loadCredentials() (user, password string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cookie != "" && !l.cookieRead {
		if err := l.readCookie(); err != nil {
			return "", "", node.NewFailure(err,
				"has a cookie file that can't be read. Check its path in the URL and its permissions.")
		}
	}
	return l.user, l.password, nil
}

func (l *login) readCookie() error {
	file, err := os.Open(l.cookie)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			return path.Err // without the path
		}
		return errors.New("the cookie file can't be opened")
	}
	defer file.Close() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return errors.New("the cookie file can't be read")
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(content)), ":")
	if !ok {
		return errors.New("the cookie file holds no user:password")
	}
	l.user, l.password, l.cookieRead = user, password, true
	return nil
}

// forgetCookie makes the next loadCredentials read the cookie file again. It returns false if there
// is no cookie file.
func (l *login) forgetCookie() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cookieRead = false
	return l.cookie != ""
}

// client sends requests with credentials to one server over HTTP.
type client struct {
	*node.Client
	login *login
}

func newClient(e *endpoint, a node.Access) (*client, error) {
	var roots *x509.CertPool
	if e.cert != "" {
		var err error
		if roots, err = readCert(e.cert); err != nil {
			return nil, err
		}
	}
	return &client{a.NewClient(e.base, roots), e.login}, nil
}

func readCert(path string) (*x509.CertPool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.New("the certificate file (cert) in its URL can't be read")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, errors.New("the certificate file (cert) in its URL holds no certificate")
	}
	return roots, nil
}

// sendSigned sends one request and reads the whole answer, of at most limit bytes. With a nil body
// it is a GET. The status belongs to an answer that the caller can read: refusals and redirects are
// errors.
func (c *client) sendSigned(ctx context.Context, path string, body []byte, limit int64) (status int, answer []byte,
	err error) {
	for again := false; ; again = true {
		user, password, err := c.login.loadCredentials()
		if err != nil {
			return 0, nil, err
		}
		var header http.Header
		if user != "" || password != "" {
			header = node.BasicAuth(user, password)
		}
		reply, err := c.Send(ctx, path, header, body, limit)
		status = reply.Status
		switch {
		case err != nil:
			return 0, nil, err
		case status == http.StatusUnauthorized && !again && c.login.forgetCookie():
			continue // the node was restarted and wrote another cookie
		case status == http.StatusUnauthorized:
			return 0, nil, loginRefusedError(c.login.forgetCookie())
		case status == http.StatusForbidden:
			return 0, nil, forbiddenError()
		case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
			return 0, nil, overloadedError(status)
		case status >= 300 && status < 400:
			return 0, nil, node.UnexpectedAnswerError("a node", fmt.Errorf("HTTP %d, a redirect", status))
		}
		return status, reply.Body, nil
	}
}
