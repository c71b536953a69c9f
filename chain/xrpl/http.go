package xrpl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// maxSilence is how long a server may say nothing in the middle of a question.
	maxSilence = 10 * time.Second
	// maxQuestion bounds a question as a whole, for servers that drip.
	maxQuestion = time.Minute
	// smallAnswer bounds every answer but that of a ledger with its transactions.
	smallAnswer = 1 << 20
)

// transport brings one question to a server and its whole answer, of at most
// limit bytes, back.
type transport interface {
	ask(ctx context.Context, q question, limit int64) ([]byte, error)
}

// httpTransport asks over JSON-RPC. It follows no redirect, which could carry the
// password elsewhere, and takes no proxy from the environment.
type httpTransport struct {
	base    string
	header  http.Header
	http    *http.Client
	silence time.Duration
}

// newHTTP is a client that is ours alone; websockets are opened with one, too.
func newHTTP() *http.Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{CheckRedirect: stay, Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     20 * time.Second,
		DisableCompression:  true, // so that a bounded answer is a bounded answer
	}}
}

func (t *httpTransport) ask(ctx context.Context, q question, limit int64) ([]byte, error) {
	body, err := q.http()
	if err != nil {
		return nil, fmt.Errorf("write a question: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxQuestion)
	defer cancel()
	status, answer, err := t.once(ctx, body, limit)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, forbidden(status)
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		return nil, overloaded(fmt.Errorf("HTTP %d", status))
	case status == http.StatusBadRequest && bytes.Contains(answer[:min(len(answer), 200)], []byte(codeVersion)):
		return nil, &refusal{Code: codeVersion}
	case status >= 500:
		return nil, failing(status)
	case status != http.StatusOK:
		return nil, strange(fmt.Errorf("HTTP %d", status))
	}
	return answer, nil
}

func (t *httpTransport) once(ctx context.Context, body []byte, limit int64) (int, []byte, error) {
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(t.silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	request, err := http.NewRequestWithContext(watched, http.MethodPost, t.base, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the request can't be made")
	}
	request.Header = t.header.Clone()
	request.Header.Set("Content-Type", "application/json")
	// Every question only reads, so it may be sent again when the server closed
	// the kept connection meanwhile; an empty value is not sent.
	request.Header["Idempotency-Key"] = nil
	response, err := t.http.Do(request)
	if err != nil {
		return 0, nil, t.failure(ctx, watched, err)
	}
	defer response.Body.Close()
	answer, err := t.read(response, watchdog, limit)
	if err != nil {
		return 0, nil, t.failure(ctx, watched, err)
	}
	return response.StatusCode, answer, nil
}

// read reads a body; every byte that comes keeps the watchdog quiet.
func (t *httpTransport) read(response *http.Response, watchdog *time.Timer, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return nil, errTooLong
	}
	var into bytes.Buffer
	if response.ContentLength > 0 {
		into.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	heard := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		watchdog.Reset(t.silence)
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
func (t *httpTransport) failure(ctx, watched context.Context, err error) error {
	t.http.CloseIdleConnections()
	switch {
	case errors.Is(err, errTooLong):
		return tooLong()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(watched), errSilent):
		return silent(t.silence)
	case dialling(err):
		return unreachable(err)
	}
	return broken(err)
}
