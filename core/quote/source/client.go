package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cointill/core/clock"
)

const (
	// exchangeTime bounds an exchange from the look-up of the name to the last byte.
	exchangeTime = 5 * time.Second
	// maxBody bounds an answer after it was unpacked.
	maxBody = 1 << 20
	// maxHeader bounds an answer's header.
	maxHeader = 32 << 10
	// maxKept bounds how many answers are kept for conditional requests: more
	// than there are documents.
	maxKept = 32
	// maxPause bounds what a source may ask for when it is busy.
	maxPause = time.Hour
	// maxAge bounds how old an answer may say it is; older is all the same.
	maxAge = 7 * 24 * time.Hour
	// userAgent is what publishers see of us.
	userAgent = "Cointill/1 (price quotes)"
)

// Client asks sources. It is safe for concurrent use; one is enough for all.
type Client struct {
	now     clock.Clock
	http    *http.Client
	timeout time.Duration

	mu    sync.Mutex
	cache map[string]cachedResponse // by URL
}

// cachedResponse is a good response, and the validators with which a newer one is requested.
type cachedResponse struct {
	tag, modified string
	body          []byte
}

// NewClient makes the client. It takes the proxy that the environment names,
// since sources are out on the internet and where to is the operator's say. It
// follows no redirect: a source that moved is looked at before it is believed.
func NewClient(now clock.Clock) *Client {
	return &Client{
		now: now, timeout: exchangeTime, cache: map[string]cachedResponse{},
		http: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:                  http.ProxyFromEnvironment,
				DialContext:            (&net.Dialer{Timeout: exchangeTime}).DialContext,
				TLSHandshakeTimeout:    exchangeTime,
				ForceAttemptHTTP2:      true,
				MaxIdleConnsPerHost:    2,
				IdleConnTimeout:        90 * time.Second,
				MaxResponseHeaderBytes: maxHeader,
			},
		},
	}
}

// Fetch asks a source for a document and returns the prices in it. Its errors
// are phrases that are safe to show and go on after the source's name ("answers
// 502"); their causes are for the log. One that holds a Busy says for how long
// the source wants to be left alone.
func (c *Client) Fetch(ctx context.Context, s Source, d Document) ([]Price, error) {
	within, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := strings.TrimSuffix(s.Origin, "/") + d.Path
	request, err := http.NewRequestWithContext(within, http.MethodGet, address, nil)
	if err != nil {
		return nil, &failure{unreachable, errors.New("its address can't be read")} // err holds the address
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "application/json")
	known := c.findKept(address)
	if known.tag != "" {
		request.Header.Set("If-None-Match", known.tag)
	}
	if known.modified != "" {
		request.Header.Set("If-Modified-Since", known.modified)
	}
	asked := c.now()
	response, err := c.http.Do(request)
	if err != nil {
		return nil, explainTrouble(ctx, within, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotModified || known.body == nil {
		known, err = c.readFresh(response)
	}
	if err != nil {
		return nil, explainTrouble(ctx, within, err)
	}
	prices, err := d.Read(known.body, asked.Add(-answerAge(response)))
	if err != nil {
		return nil, err
	}
	c.keepAnswer(address, known)
	return prices, nil
}

// readFresh reads an answer that isn't the one that is known.
func (c *Client) readFresh(response *http.Response) (cachedResponse, error) {
	if response.StatusCode != http.StatusOK {
		return cachedResponse{}, c.readRefusal(response)
	}
	if err := checkEncoding(response.Header); err != nil {
		return cachedResponse{}, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if len(body) > maxBody {
		return cachedResponse{}, &failure{tooLong, nil}
	}
	if err != nil {
		return cachedResponse{}, err
	}
	return cachedResponse{response.Header.Get("ETag"), response.Header.Get("Last-Modified"), body}, nil
}

// checkEncoding refuses what isn't JSON by its own account. The client asks for no
// compression but the one that it undoes itself, which then leaves no header.
func checkEncoding(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return &failure{packed, fmt.Errorf("%.100q", encoding)}
	}
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err != nil && media == "":
		return &failure{notJSON, err}
	case media == "application/json" || media == "text/json",
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"):
		return nil
	case media == "text/html" || media == "application/xhtml+xml":
		return &failure{webPage, nil}
	}
	return &failure{notJSON, fmt.Errorf("%.100q", media)}
}

// readRefusal returns the failure of a status other than 200. 418 is how Binance says
// that it stopped answering an address that asked too often.
func (c *Client) readRefusal(response *http.Response) error {
	refused := &failure{phrase: "answers " + strconv.Itoa(response.StatusCode)}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusTeapot:
		if pause, ok := c.readPause(response.Header.Get("Retry-After")); ok {
			refused.cause = Busy{pause}
		}
	}
	return refused
}

// readPause reads a Retry-After: seconds, or a date.
func (c *Client) readPause(text string) (time.Duration, bool) {
	if count, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(count, uint64(maxPause/time.Second))) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(c.now()), 0), maxPause), true
}

// answerAge returns for how long an answer lay in a cache on its way (RFC 9111, 5.1): a
// price without a time of its own is as old as that.
func answerAge(response *http.Response) time.Duration {
	count, err := strconv.ParseUint(response.Header.Get("Age"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(count, uint64(maxAge/time.Second))) * time.Second
}

// findKept returns the good answer that is kept for an address, if any.
func (c *Client) findKept(address string) cachedResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache[address]
}

// keepAnswer remembers a good answer that can be asked for conditionally, in place of
// the one before. When there are too many, any other goes.
func (c *Client) keepAnswer(address string, k cachedResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cache, address)
	if k.tag == "" && k.modified == "" {
		return
	}
	for other := range c.cache {
		if len(c.cache) < maxKept {
			break
		}
		delete(c.cache, other)
	}
	c.cache[address] = k
}

// explainTrouble puts what went wrong with an exchange into words. Errors of
// net/http hold the URL, and with it perhaps a password: only their cause stays.
func explainTrouble(ctx, within context.Context, err error) error {
	var named *failure
	if errors.As(err, &named) {
		return err
	}
	var around *url.Error
	if errors.As(err, &around) {
		err = around.Err
	}
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		return &failure{interrupted, ctx.Err()}
	case within.Err() != nil:
		return &failure{tooSlow, err}
	case errors.As(err, &certificate):
		return &failure{untrusted, err}
	case errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect"):
		return &failure{unreachable, err}
	}
	return &failure{brokenOff, err}
}
