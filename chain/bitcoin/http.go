package bitcoin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// maxList bounds a list of the mempool: half a million transaction ids.
	maxList = 32 << 20
	// maxHex bounds JSON around a block or transactions in hexadecimal.
	maxHex = 2*maxRaw + 64<<10
	// smallAnswer bounds every other answer.
	smallAnswer = 1 << 20
	// maxSilence is how long a node may say nothing in the middle of a question.
	maxSilence = 10 * time.Second
	// maxQuestion bounds a question as a whole, for nodes that drip.
	maxQuestion = time.Minute
)

// login is how requests are signed. A cookie file holds user:password, and the
// node writes another at each start.
type login struct {
	user, password string
	cookie         string // the file's path; "" means that user and password are the configuration's

	mu   sync.Mutex
	read bool // the cookie was read
}

// get is the user and password to send.
func (l *login) get() (user, password string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cookie != "" && !l.read {
		if err := l.load(); err != nil {
			return "", "", troubled(err, "has a cookie file that can't be read. Check its path in the URL and its permissions.")
		}
	}
	return l.user, l.password, nil
}

func (l *login) load() error {
	file, err := os.Open(l.cookie)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			return path.Err // without the path
		}
		return errors.New("the cookie file can't be opened")
	}
	defer file.Close() // only read
	content, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return errors.New("the cookie file can't be read")
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(content)), ":")
	if !ok {
		return errors.New("the cookie file holds no user:password")
	}
	l.user, l.password, l.read = user, password, true
	return nil
}

// forget makes the next get read the cookie file again; false means there is none.
func (l *login) forget() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = false
	return l.cookie != ""
}

// client asks one server over HTTP. It follows no redirect, which could carry
// the password elsewhere, and takes no proxy from the environment.
type client struct {
	base    string
	login   *login
	http    *http.Client
	silence time.Duration
}

func newClient(e *endpoint) (*client, error) {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: esploraWorkers,
		IdleConnTimeout:     20 * time.Second, // less than a node's own 30 s
		DisableCompression:  true,             // so that a bounded answer is a bounded answer
	}
	if e.cert != "" {
		roots, err := readCert(e.cert)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{base: e.base, login: e.login, silence: maxSilence, http: &http.Client{Transport: transport, CheckRedirect: stay}}, nil
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

// ask sends one request and reads the whole answer, of at most limit bytes. A
// nil body makes it a GET. The status is that of an answer that may be read on:
// refusals and redirects are errors already.
func (c *client) ask(ctx context.Context, path string, body []byte, limit int64) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxQuestion)
	defer cancel()
	for again := false; ; again = true {
		status, answer, err = c.once(ctx, path, body, limit)
		switch {
		case err != nil:
			return 0, nil, err
		case status == http.StatusUnauthorized && !again && c.login.forget():
			continue // the node was restarted and wrote another cookie
		case status == http.StatusUnauthorized:
			return 0, nil, refused(c.login.forget())
		case status == http.StatusForbidden:
			return 0, nil, forbidden()
		case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
			return 0, nil, overloaded(status)
		case status >= 300 && status < 400:
			return 0, nil, strange("a node", fmt.Errorf("HTTP %d, a redirect", status))
		}
		return status, answer, nil
	}
}

func (c *client) once(ctx context.Context, path string, body []byte, limit int64) (int, []byte, error) {
	user, password, err := c.login.get()
	if err != nil {
		return 0, nil, err
	}
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(c.silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(watched, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the request can't be made")
	}
	if user != "" || password != "" {
		request.SetBasicAuth(user, password)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		// Every question only reads, so it may be sent again when the node closed
		// the kept connection meanwhile; an empty value is not sent.
		request.Header["Idempotency-Key"] = nil
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, c.failure(ctx, watched, err)
	}
	defer response.Body.Close()
	answer, err := c.read(response, watchdog, limit)
	if err != nil {
		return 0, nil, c.failure(ctx, watched, err)
	}
	return response.StatusCode, answer, nil
}

// read reads a body; every byte that comes keeps the watchdog quiet.
func (c *client) read(response *http.Response, watchdog *time.Timer, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return nil, errTooLong
	}
	var into bytes.Buffer
	if response.ContentLength > 0 {
		into.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	heard := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		watchdog.Reset(c.silence)
		return n, err
	})
	n, err := into.ReadFrom(io.LimitReader(heard, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, errTooLong
	}
	return into.Bytes(), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// failure says what went wrong with an exchange, and drops kept connections:
// others may be as dead as this one.
func (c *client) failure(ctx, watched context.Context, err error) error {
	c.http.CloseIdleConnections()
	switch {
	case errors.Is(err, errTooLong):
		return tooLong()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(watched), errSilent):
		return silent(c.silence)
	case dialling(err):
		return unreachable(err)
	}
	return broken(err)
}
