package xrpl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"cointill/chain/node"
)

// strays bounds how many messages may come before the answer that is waited for.
const strays = 100

// piece is how much of a message must come before a server is called silent.
const piece = 4 << 10

// socketTransport asks over one websocket, one question at a time. It is opened
// with the first question, and anew when it broke.
type socketTransport struct {
	client *node.Client
	url    string
	header http.Header
	turn   chan struct{} // holds one token while a question is asked, which guards conn
	conn   *websocket.Conn
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
			if t.conn, err = dial(ctx, t.client, t.url, t.header); err != nil {
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
			return nil, node.Broken(end.cause)
		}
		// The server may have closed the connection long ago: once more on a new one.
	}
}

// exchange sends a question and waits for its answer, in less time than a follower waits.
func (t *socketTransport) exchange(ctx context.Context, id int64, message []byte, limit int64) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, 2*t.client.Silence)
	defer cancel()
	watched, stop := context.WithCancel(within)
	defer stop()
	watchdog := time.AfterFunc(t.client.Silence, stop)
	defer watchdog.Stop()
	t.conn.SetReadLimit(limit)
	if err := t.conn.Write(watched, websocket.MessageText, message); err != nil {
		return nil, t.failure(ctx, watched, err)
	}
	for range strays {
		answer, err := t.read(watched, watchdog)
		if err != nil {
			return nil, t.failure(ctx, watched, err)
		}
		var to struct {
			ID *int64 `json:"id"`
		}
		if err := json.Unmarshal(answer, &to, node.Frugal); err != nil {
			return nil, strange(errors.New(node.Clip(err.Error())))
		}
		if to.ID != nil && *to.ID == id {
			return answer, nil
		}
	}
	return nil, strange(errors.New("many messages and no answer"))
}

// read reads a message; every piece that comes keeps the watchdog quiet.
func (t *socketTransport) read(ctx context.Context, watchdog *time.Timer) ([]byte, error) {
	_, message, err := t.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	var into bytes.Buffer
	for {
		watchdog.Reset(t.client.Silence)
		switch _, err := io.CopyN(&into, message, piece); {
		case errors.Is(err, io.EOF):
			return into.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// failure says what went wrong with a connection that stood.
func (t *socketTransport) failure(ctx, watched context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case watched.Err() != nil:
		return node.Silent(t.client.Silence)
	case errors.Is(err, websocket.ErrMessageTooBig):
		return node.TooLong()
	}
	return &lost{err}
}

// lost is the end of a connection, which another one may cure.
type lost struct{ cause error }

func (l *lost) Error() string { return l.cause.Error() }

// dial opens a websocket.
func dial(ctx context.Context, c *node.Client, url string, header http.Header) (*websocket.Conn, error) {
	conn, status, err := c.Dial(ctx, url, header)
	if status != 0 {
		return nil, unexpected(status, err)
	}
	return conn, err
}

// subscribe listens to a server's stream of ledgers. What it says is not
// believed: heard only says that there may be a new one.
func subscribe(ctx context.Context, e *endpoint, c *node.Client, up, heard func()) error {
	conn, err := dial(ctx, c, e.stream, e.header)
	if err != nil {
		return err
	}
	wish, err := question{1, "subscribe", map[string]any{"streams": []string{"ledger"}}}.socket()
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	return c.Listen(ctx, conn, smallAnswer, [][]byte{wish}, func(message []byte) error {
		var notice struct {
			refusal
			Type string `json:"type"`
		}
		switch err := json.Unmarshal(message, &notice, node.Frugal); {
		case err != nil:
			return strange(errors.New("no JSON"))
		case notice.failed() != nil:
			return understood(notice.failed())
		case notice.Type == "response":
			up()
		case notice.Type == "ledgerClosed":
			heard()
		}
		return nil
	})
}
