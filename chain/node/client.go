package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSilence is how long a node may send nothing during a request.
	MaxSilence = 10 * time.Second
	// maxRequestTime bounds a whole request, for nodes that send a byte now and then.
	maxRequestTime = time.Minute
	// maxIdleConns is the number of connections to a node that are kept open between requests.
	maxIdleConns = 8
)

// AllowDuplicateNames allows duplicate names in JSON objects. Detecting duplicates takes memory for each of the
// millions of names that a malicious answer may hold.
var AllowDuplicateNames = jsontext.AllowDuplicateNames(true)

// Client sends HTTP requests to one server and opens websockets to it. It follows no redirect,
// because a redirect could carry the password to another host, and ignores the environment's proxy
// settings.
type Client struct {
	base           string
	http           *http.Client
	SilenceTimeout time.Duration // MaxSilence by default; tests use less
	memory         Memory
	// Calls counts the requests; nil counts none.
	Calls *CallCounter
}

// NewClient makes a client for the server at a URL without user and password. It trusts the
// certificates of roots, or the machine's if roots is nil. Memory is for long answers; nil has no
// bound.
func NewClient(base string, roots *x509.CertPool, memory Memory) *Client {
	if memory == nil {
		memory = unboundedMemory{}
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: maxIdleConns,
		IdleConnTimeout:     20 * time.Second, // less than the 30 s of a bitcoin node
		DisableCompression:  true,             // so that the limit on an answer bounds its real size
	}
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, SilenceTimeout: MaxSilence, memory: memory,
		http: &http.Client{Transport: transport, CheckRedirect: noRedirect}}
}

// BasicAuth returns the Authorization header for a user and a password.
func BasicAuth(user, password string) http.Header {
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}
}

// Reply is the answer to a request.
type Reply struct {
	Status int
	Body   []byte
	// RetryAfter is how long the server asks to be left alone (the header of that name), or 0.
	RetryAfter time.Duration
}

// Send sends one request with a header and reads the whole answer, of at most limit bytes. With a
// nil body it is a GET, with any other body a POST of JSON. The caller interprets the status.
// Errors are a Failure or the error of the context.
func (c *Client) Send(ctx context.Context, path string, header http.Header, body []byte, limit int64) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, maxRequestTime)
	defer cancel()
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(c.SilenceTimeout, func() { stop(errSilent) })
	defer watchdog.Stop()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(watched, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, errors.New("the request can't be made")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		// Every question only reads, so the request may be sent again when the node has closed the
		// idle connection. The key with an empty value allows this retry and is not sent.
		request.Header["Idempotency-Key"] = nil
	}
	c.Calls.AddCalls(1)
	response, err := c.http.Do(request)
	if err != nil {
		return Reply{}, c.classifyError(ctx, watched, err)
	}
	defer response.Body.Close()
	answer, err := c.readBody(watched, response, watchdog, limit)
	if err != nil {
		return Reply{}, c.classifyError(ctx, watched, err)
	}
	return Reply{response.StatusCode, answer, parseRetryAfter(response.Header)}, nil
}

// readBody reads an answer's body. Every byte that arrives resets the watchdog.
func (c *Client) readBody(ctx context.Context, response *http.Response, watchdog *time.Timer, limit int64) ([]byte,
	error) {
	if response.ContentLength > limit {
		return nil, AnswerTooLongError()
	}
	watchedBody := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		watchdog.Reset(c.SilenceTimeout)
		return n, err
	})
	return c.ReadAnswer(ctx, watchedBody, response.ContentLength, limit)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// classifyError turns the error of a request into a Failure, and closes idle connections, which may
// be as dead as the failed one.
func (c *Client) classifyError(ctx, watched context.Context, err error) error {
	c.http.CloseIdleConnections()
	var failure *Failure
	switch {
	case errors.As(err, &failure):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(watched), errSilent):
		return SilentError(c.SilenceTimeout)
	case isDialError(err):
		return UnreachableError(err)
	}
	return BrokenConnectionError(err)
}
