package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSilence is how long a node may say nothing in the middle of a question.
	MaxSilence = 10 * time.Second
	// maxRequestTime bounds a question as a whole, for nodes that drip.
	maxRequestTime = time.Minute
	// maxIdleConns is how many connections to a node are kept open between questions.
	maxIdleConns = 8
)

// Frugal lets names stand twice in a JSON object: to find that out takes memory
// for each of the millions of names that a bad answer may hold.
var Frugal = jsontext.AllowDuplicateNames(true)

// Client asks one server over HTTP, and opens websockets to it. It follows no
// redirect, which could carry the password elsewhere, and takes no proxy from the
// environment.
type Client struct {
	base    string
	http    *http.Client
	Silence time.Duration // MaxSilence; tests have less time
}

// NewClient makes a client of the server at a URL without user and password.
// Roots are whom it trusts; nil means whom the machine does.
func NewClient(base string, roots *x509.CertPool) *Client {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: maxIdleConns,
		IdleConnTimeout:     20 * time.Second, // less than a bitcoin node's own 30 s
		DisableCompression:  true,             // so that a bounded answer is a bounded answer
	}
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, Silence: MaxSilence, http: &http.Client{Transport: transport, CheckRedirect: noRedirect}}
}

// Basic is a header that signs requests with user and password.
func Basic(user, password string) http.Header {
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}
}

// Ask sends one request with a header and reads the whole answer, of at most limit
// bytes. A nil body makes it a GET, any other is JSON. What the status means is
// for the caller to say; errors are a Trouble or the context's.
func (c *Client) Ask(ctx context.Context, path string, header http.Header, body []byte, limit int64) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxRequestTime)
	defer cancel()
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(c.Silence, func() { stop(errSilent) })
	defer watchdog.Stop()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(watched, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the request can't be made")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		// Every question only reads, so it may be sent again when the node closed
		// the kept connection meanwhile; an empty value is not sent.
		request.Header["Idempotency-Key"] = nil
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, c.classifyError(ctx, watched, err)
	}
	defer response.Body.Close()
	answer, err = c.readBody(response, watchdog, limit)
	if err != nil {
		return 0, nil, c.classifyError(ctx, watched, err)
	}
	return response.StatusCode, answer, nil
}

// readBody reads a body; every byte that comes keeps the watchdog quiet.
func (c *Client) readBody(response *http.Response, watchdog *time.Timer, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return nil, ErrTooLong
	}
	var buffer bytes.Buffer
	if response.ContentLength > 0 {
		buffer.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	watchedBody := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		watchdog.Reset(c.Silence)
		return n, err
	})
	n, err := buffer.ReadFrom(io.LimitReader(watchedBody, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, ErrTooLong
	}
	return buffer.Bytes(), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// classifyError says what went wrong with an exchange, and drops kept connections:
// others may be as dead as this one.
func (c *Client) classifyError(ctx, watched context.Context, err error) error {
	c.http.CloseIdleConnections()
	switch {
	case errors.Is(err, ErrTooLong):
		return TooLong()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(watched), errSilent):
		return Silent(c.Silence)
	case isDialError(err):
		return Unreachable(err)
	}
	return Broken(err)
}
