package xrpl

import (
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

// maxStrayMessages bounds how many other messages may arrive before the answer.
const maxStrayMessages = 100

// readChunk is how much of a message must arrive within the client's silence limit.
const readChunk = 4 << 10

// socketTransport sends requests over one websocket, one at a time. It opens the websocket with
// the first request, and opens it again after a failure.
type socketTransport struct {
	client *node.Client
	url    string
	header http.Header
	slot   chan struct{} // holds one token while a request is running, which guards conn
	conn   *websocket.Conn
}

func (t *socketTransport) roundTrip(ctx context.Context, q request, limit int64) ([]byte, error) {
	message, err := q.encodeWebSocket()
	if err != nil {
		return nil, fmt.Errorf("write a question: %w", err)
	}
	select {
	case t.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.slot }()
	for {
		kept := t.conn != nil
		if !kept {
			if t.conn, err = dialWebSocket(ctx, t.client, t.url, t.header); err != nil {
				return nil, err
			}
		}
		answer, err := t.exchangeMessages(ctx, q.id, message, limit)
		if err == nil {
			return answer, nil
		}
		_ = t.conn.CloseNow()
		t.conn = nil
		var end *connectionLost
		switch ended := errors.As(err, &end); {
		case !ended:
			return nil, err
		case !kept:
			return nil, node.BrokenConnectionError(end.cause)
		}
		// The server may have closed the connection long ago, so the request is repeated once on a
		// new one.
	}
}

// exchangeMessages sends a request and waits for its answer. The time is shorter than the
// follower's timeout.
func (t *socketTransport) exchangeMessages(ctx context.Context, id int64, message []byte, limit int64) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, 2*t.client.SilenceTimeout)
	defer cancel()
	watched, stop := context.WithCancel(within)
	defer stop()
	watchdog := time.AfterFunc(t.client.SilenceTimeout, stop)
	defer watchdog.Stop()
	t.conn.SetReadLimit(limit)
	t.client.Calls.AddCalls(1)
	if err := t.conn.Write(watched, websocket.MessageText, message); err != nil {
		return nil, t.connectionError(ctx, watched, err)
	}
	for range maxStrayMessages {
		answer, err := t.readMessage(watched, watchdog, limit)
		if err != nil {
			return nil, t.connectionError(ctx, watched, err)
		}
		var to struct {
			ID *int64 `json:"id"`
		}
		if err := json.Unmarshal(answer, &to, node.AllowDuplicateNames); err != nil {
			return nil, invalidAnswerError(errors.New(node.PrintableText(err.Error())))
		}
		if to.ID != nil && *to.ID == id {
			return answer, nil
		}
	}
	return nil, invalidAnswerError(errors.New("many messages and no answer"))
}

// readMessage reads a message. Each chunk that arrives resets the watchdog.
func (t *socketTransport) readMessage(ctx context.Context, watchdog *time.Timer, limit int64) ([]byte, error) {
	_, message, err := t.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	watchdog.Reset(t.client.SilenceTimeout)
	return t.client.ReadAnswer(ctx, &watchedMessage{message, watchdog, t.client.SilenceTimeout, 0}, 0, limit)
}

// watchedMessage is a message that resets a watchdog with each chunk that arrives.
type watchedMessage struct {
	io.Reader
	watchdog *time.Timer
	silence  time.Duration
	read     int // since the last reset
}

// Read reads from the message.
func (m *watchedMessage) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.read += n; m.read >= readChunk {
		m.watchdog.Reset(m.silence)
		m.read = 0
	}
	return n, err
}

// connectionError returns the error for a failure of an open connection.
func (t *socketTransport) connectionError(ctx, watched context.Context, err error) error {
	var told *node.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case watched.Err() != nil:
		return node.SilentError(t.client.SilenceTimeout)
	case errors.Is(err, websocket.ErrMessageTooBig):
		return node.AnswerTooLongError()
	case errors.As(err, &told):
		return err
	}
	return &connectionLost{err}
}

// connectionLost means that the connection ended. A new connection may work.
type connectionLost struct{ cause error }

func (l *connectionLost) Error() string { return l.cause.Error() }

// dialWebSocket opens a websocket.
func dialWebSocket(ctx context.Context, c *node.Client, url string, header http.Header) (*websocket.Conn, error) {
	conn, status, err := c.DialWebsocket(ctx, url, header)
	if status != 0 {
		return nil, statusError(status, err)
	}
	return conn, err
}

// subscribeLedgers listens to a server's stream of ledgers. The content of a message is not used:
// heard only signals that there may be a new ledger.
func subscribeLedgers(ctx context.Context, e *endpoint, c *node.Client, up, heard func()) error {
	conn, err := dialWebSocket(ctx, c, e.stream, e.header)
	if err != nil {
		return err
	}
	wish, err := request{1, "subscribe", map[string]any{"streams": []string{"ledger"}}}.encodeWebSocket()
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	return c.ListenWebsocket(ctx, conn, maxSmallResponse, [][]byte{wish}, func(message []byte) error {
		var notice struct {
			apiError
			Type string `json:"type"`
		}
		switch err := json.Unmarshal(message, &notice, node.AllowDuplicateNames); {
		case err != nil:
			return invalidAnswerError(errors.New("no JSON"))
		case notice.asError() != nil:
			return classifyError(notice.asError())
		case notice.Type == "response":
			up()
		case notice.Type == "ledgerClosed":
			heard()
		}
		return nil
	})
}
