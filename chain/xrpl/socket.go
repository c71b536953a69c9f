package xrpl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
)

const (
	// heartbeat is how often a websocket that only listens is asked whether it lives.
	heartbeat = 30 * time.Second
	// strays bounds how many messages may come before the answer that is waited for.
	strays = 100
)

// socketTransport asks over one websocket, one question at a time. It is opened
// with the first question, and anew when it broke.
type socketTransport struct {
	url     string
	header  http.Header
	http    *http.Client
	silence time.Duration
	turn    chan struct{} // holds one token while a question is asked, which guards conn
	conn    *websocket.Conn
}

func (t *socketTransport) ask(ctx context.Context, q question, limit int64) ([]byte, error) {
	message, err := q.socket()
	if err != nil {
		return nil, fmt.Errorf("write a question: %w", err)
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.turn }()
	for {
		kept := t.conn != nil
		if !kept {
			if t.conn, err = dial(ctx, t.url, t.header, t.http, t.silence); err != nil {
				return nil, err
			}
		}
		answer, err := t.exchange(ctx, q.id, message, limit)
		if err == nil {
			return answer, nil
		}
		_ = t.conn.CloseNow()
		t.conn = nil
		var end *lost
		switch ended := errors.As(err, &end); {
		case !ended:
			return nil, err
		case !kept:
			return nil, broken(end.cause)
		}
		// The server may have closed the connection long ago: once more on a new one.
	}
}

// exchange sends a question and waits for its answer.
func (t *socketTransport) exchange(ctx context.Context, id int64, message []byte, limit int64) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, 3*t.silence)
	defer cancel()
	t.conn.SetReadLimit(limit)
	if err := t.conn.Write(within, websocket.MessageText, message); err != nil {
		return nil, t.failure(ctx, within, err)
	}
	for range strays {
		_, answer, err := t.conn.Read(within)
		if err != nil {
			return nil, t.failure(ctx, within, err)
		}
		var to struct {
			ID *int64 `json:"id"`
		}
		if err := json.Unmarshal(answer, &to, frugal); err != nil {
			return nil, strange(errors.New(clip(err.Error())))
		}
		if to.ID != nil && *to.ID == id {
			return answer, nil
		}
	}
	return nil, strange(errors.New("many messages and no answer"))
}

// failure says what went wrong with a connection that stood.
func (t *socketTransport) failure(ctx, within context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return silent(3 * t.silence)
	case errors.Is(err, websocket.ErrMessageTooBig):
		return tooLong()
	}
	return &lost{err}
}

// lost is the end of a connection, which another one may cure.
type lost struct{ cause error }

func (l *lost) Error() string { return l.cause.Error() }

// dial opens a websocket.
func dial(ctx context.Context, url string, header http.Header, client *http.Client, silence time.Duration) (*websocket.Conn, error) {
	within, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	conn, response, err := websocket.Dial(within, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, silent(silence)
	case response == nil || dialling(err):
		return nil, unreachable(err)
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return nil, forbidden(response.StatusCode)
	case response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusTooManyRequests:
		return nil, overloaded(fmt.Errorf("HTTP %d", response.StatusCode))
	}
	return nil, strange(fmt.Errorf("HTTP %d instead of a websocket", response.StatusCode))
}

// subscribe listens to a server's stream of ledgers. What it says is not
// believed: heard only says that there may be a new one.
func subscribe(ctx context.Context, e *endpoint, client *http.Client, up, heard func()) error {
	conn, err := dial(ctx, e.stream, e.header, client, maxSilence)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(smallAnswer)
	message, err := question{1, "subscribe", map[string]any{"streams": []string{"ledger"}}}.socket()
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
		return broken(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx, conn)
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return broken(err)
		}
		var notice struct {
			refusal
			Type string `json:"type"`
		}
		switch err := json.Unmarshal(message, &notice, frugal); {
		case err != nil:
			return strange(errors.New("no JSON"))
		case notice.failed() != nil:
			return understood(notice.failed())
		case notice.Type == "response":
			up()
		case notice.Type == "ledgerClosed":
			heard()
		}
	}
}

// beat ends a websocket that doesn't answer.
func beat(ctx context.Context, conn *websocket.Conn) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		within, cancel := context.WithTimeout(ctx, maxSilence)
		err := conn.Ping(within)
		cancel()
		if err != nil {
			_ = conn.CloseNow() // the reader notices
			return
		}
	}
}
