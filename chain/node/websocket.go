package node

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// pingInterval is how often a websocket that only listens is pinged.
const pingInterval = 30 * time.Second

// DialWebsocket opens a websocket. If the server answers with something else, status is the status of this
// answer, and the caller interprets it; otherwise it is 0.
func (c *Client) DialWebsocket(ctx context.Context, url string, header http.Header) (conn *websocket.Conn, status int,
	err error) {
	within, cancel := context.WithTimeout(ctx, c.SilenceTimeout)
	defer cancel()
	conn, response, err := websocket.Dial(within, url, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	switch {
	case err == nil:
		return conn, 0, nil
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case within.Err() != nil:
		return nil, 0, SilentError(c.SilenceTimeout)
	case response == nil:
		return nil, 0, UnreachableError(err)
	}
	return nil, response.StatusCode, fmt.Errorf("HTTP %d instead of a websocket", response.StatusCode)
}

// ListenWebsocket sends the subscriptions and passes each message, of at most limit bytes, to handle until
// handle fails or the connection ends. It closes the connection.
func (c *Client) ListenWebsocket(ctx context.Context, conn *websocket.Conn, limit int64, subscriptions [][]byte,
	handle func(message []byte) error) error {
	defer conn.CloseNow()
	conn.SetReadLimit(limit)
	within, cancel := context.WithTimeout(ctx, c.SilenceTimeout)
	defer cancel()
	for _, subscription := range subscriptions {
		if err := conn.Write(within, websocket.MessageText, subscription); err != nil {
			return BrokenConnectionError(err)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go keepAlive(ctx, conn)
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return BrokenConnectionError(err)
		}
		if err := handle(message); err != nil {
			return err
		}
	}
}

// keepAlive pings a websocket and closes it if no pong comes.
func keepAlive(ctx context.Context, conn *websocket.Conn) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		within, cancel := context.WithTimeout(ctx, MaxSilence)
		err := conn.Ping(within)
		cancel()
		if err != nil {
			_ = conn.CloseNow() // the reader notices
			return
		}
	}
}
