package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cointill/core/webhook"
	"cointill/internal/app"
)

// apiFlags are what the commands need that speak to a running instance as a
// merchant's own program does: over the public API, with a test key.
type apiFlags struct {
	Key string `env:"COINTILL_API_KEY" help:"Test key (sk_test_…). Better in the environment: process lists show flags."`
	API string `name:"api" env:"-" placeholder:"http://127.0.0.1:8080" help:"Address of the instance. Default: the base URL where it is https, else where these settings serve."`
}

// connectAPI checks the flags. The key is never printed, nor sent when it is a live one.
func (f apiFlags) connectAPI(settings *app.Settings) (*apiClient, error) {
	switch {
	case f.Key == "":
		return nil, errors.New("a test key is missing: set COINTILL_API_KEY or give --key. The dashboard " +
			"(Developers) and cointill key create make one")
	case strings.HasPrefix(f.Key, "sk_live_"):
		return nil, errors.New("this is a live key. Only test payments can be listened to and triggered here: use a " +
			"key that begins with sk_test_")
	case !strings.HasPrefix(f.Key, "sk_test_") ||
		strings.ContainsFunc(f.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("this is no API key: test keys begin with sk_test_")
	}
	base := f.API
	if strings.HasPrefix(settings.BaseURL, "https://") && base == "" {
		base = settings.BaseURL // whose API takes no plain http
	}
	if base == "" {
		var err error
		if base, err = localAddress(settings); err != nil {
			return nil, err
		}
	}
	address, err := webAddress(base)
	if err != nil {
		return nil, fmt.Errorf("--api %w", err)
	}
	return &apiClient{base: strings.TrimRight(address.String(), "/"), key: f.Key, http: &http.Client{
		Timeout: 30 * time.Second, CheckRedirect: noRedirect, // a redirect would carry the key elsewhere
	}}, nil
}

// localAddress returns the address on this machine at which an instance with these settings serves.
func localAddress(settings *app.Settings) (string, error) {
	host, port, err := net.SplitHostPort(settings.Listen)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// webAddress reads an address. It may lack its http://, and on this machine its
// host too: 3000, 3000/hook and :3000/hook are localhost's.
func webAddress(text string) (*url.URL, error) {
	host, _, _ := strings.Cut(text, "/")
	if _, err := strconv.ParseUint(host, 10, 16); err == nil {
		text = ":" + text
	}
	if strings.HasPrefix(text, ":") {
		text = "localhost" + text
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	address, err := url.Parse(text)
	if err == nil && address.Port() != "" {
		_, err = strconv.ParseUint(address.Port(), 10, 16)
	}
	if err != nil || address.Hostname() == "" || address.User != nil || address.Scheme != "http" &&
		address.Scheme != "https" {
		return nil, errors.New("must be an address such as localhost:3000/hook or https://pay.example.com")
	}
	return address, nil
}

// apiClient calls /v1 with a test key.
type apiClient struct {
	base string
	key  string
	http *http.Client
}

// apiError is a refusal of the API: a status outside 2xx.
type apiError struct {
	status  int
	message string
	after   time.Duration // Retry-After; 0 when there was none
}

func (e *apiError) Error() string { return e.message }

// silence is that no answer came.
type silence struct {
	base  string
	cause error
}

func (e *silence) Error() string {
	return fmt.Sprintf("nothing answers at %s (%s): is Cointill running there? --api names another address", e.base,
		describeSilence(e.cause))
}

func (e *silence) Unwrap() error { return e.cause }

// mayPass reports whether the same call may succeed later.
func mayPass(err error) bool {
	var refused *apiError
	if errors.As(err, &refused) {
		return refused.status == http.StatusTooManyRequests || refused.status >= 500
	}
	return true // no answer came
}

// maxPage bounds an answer that is read: 100 events of the largest payments take less.
const maxPage = 16 << 20

// callAPI makes one request; body nil sends none. It returns the cursor of the next
// page of a list. Errors are an apiError when the API refused, and a silence when
// no answer came.
func (c *apiClient) callAPI(ctx context.Context, method, path string, body, into any) (next string, err error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("User-Agent", "Cointill/"+app.Version)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return "", &silence{c.base, err}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxPage))
	if err != nil {
		return "", &silence{c.base, err}
	}
	return c.readAnswer(answer, text, into)
}

// readAnswer reads the envelope of an answer.
func (c *apiClient) readAnswer(answer *http.Response, text []byte, into any) (next string, err error) {
	var envelope struct {
		Message string
		Errors  map[string][]string
		Data    json.RawMessage
		Meta    struct {
			NextCursor string `json:"next_cursor"`
		}
	}
	err = json.Unmarshal(text, &envelope)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		refused := &apiError{status: answer.StatusCode, message: c.describeStranger(answer)}
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
			refused.after = time.Duration(min(seconds, 60)) * time.Second
		}
		if err == nil && envelope.Message != "" {
			refused.message = fmt.Sprintf("%s answered %d: %s", c.base, answer.StatusCode, plainText(envelope.Message))
			for _, field := range slices.Sorted(maps.Keys(envelope.Errors)) {
				refused.message += plainText(" " + field + ": " + strings.Join(envelope.Errors[field], " "))
			}
		}
		return "", refused
	}
	if err == nil && into != nil {
		err = json.Unmarshal(envelope.Data, into)
	}
	if err != nil {
		return "", &apiError{status: answer.StatusCode, message: c.describeStranger(answer)}
	}
	return envelope.Meta.NextCursor, nil
}

// describeStranger returns the error for an answer that the API did not write.
func (c *apiClient) describeStranger(answer *http.Response) string {
	return fmt.Sprintf("what answers at %s (%d) is not Cointill's API: --api names another address", c.base,
		answer.StatusCode)
}

// plainText removes what would control the terminal from a text of others.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// event is an event as the API lists it: byte for byte what webhooks get.
type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	body []byte
}

// UnmarshalJSON reads an event and keeps its bytes.
func (e *event) UnmarshalJSON(text []byte) error {
	type fields event
	e.body = bytes.Clone(text)
	return json.Unmarshal(text, (*fields)(e))
}

// readPayment returns the payment of an event, or the send with its ID; empty for other events.
func (e event) readPayment() (payment struct{ Reference, ID, Status, Reason string }) {
	_ = json.Unmarshal(e.Data, &payment) // another shape of data has none of them
	return payment
}

// knownType refuses an unknown type of event.
func knownType(name string) error {
	if slices.Contains(webhook.Types(), name) {
		return nil
	}
	return fmt.Errorf("%q is no type of event; there are %s", plainText(name), strings.Join(webhook.Types(), ", "))
}
