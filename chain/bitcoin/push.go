package bitcoin

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
)

const (
	// heartbeat is how often a websocket is asked whether it lives.
	heartbeat = 30 * time.Second
	// longestRest bounds the rest between two attempts to connect.
	longestRest = time.Minute
	// maxPushed bounds one pushed message: a raw block, or a notification of btcd.
	maxPushed = maxRaw
)

// listener is one push connection. It returns when the connection ends, calls
// up when it stands, and heard for each message: with a transaction, or with nil.
type listener struct {
	host   string
	kind   string
	listen func(ctx context.Context, up func(), heard func(tx []byte)) error
}

// listenersOf are the push connections of a node.
func (s *Source) listenersOf(e *endpoint, http *client) (all []listener) {
	for _, at := range e.zmq {
		all = append(all, listener{at, "zmq", func(ctx context.Context, up func(), heard func([]byte)) error { return subscribe(ctx, at, up, heard) }})
	}
	if e.socket != "" {
		all = append(all, listener{e.host, "websocket", func(ctx context.Context, up func(), heard func([]byte)) error {
			return notifications(ctx, e.socket, http, up, heard)
		}})
	}
	return all
}

// Run keeps the push connections until the context ends, and then returns nil.
// They only call what Notify was given, so a source works without Run, too: it
// learns things a little later.
func (s *Source) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range s.push {
		all.Go(func() { s.keep(ctx, l) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// keep opens a push connection again and again, with growing rests while it
// doesn't last. Each time it stands the follower is woken: something may have
// been missed.
func (s *Source) keep(ctx context.Context, l listener) {
	rest, failing := s.pace.retry, false
	timer := time.NewTimer(0)
	defer timer.Stop()
	tell := s.log.With("network", s.params.Network(), "host", l.host, "kind", l.kind)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		opened := s.clock()
		err := l.listen(ctx, func() {
			if failing {
				tell.Info("a push connection is back")
			}
			failing = false
			s.notify()
		}, s.heard)
		if ctx.Err() != nil {
			return
		}
		if !failing {
			tell.Warn("a push connection ended; the node is polled until it is back", "error", err)
		}
		failing = true
		if s.clock().Sub(opened) > longestRest {
			rest = s.pace.retry
		}
		timer.Reset(rest)
		rest = min(2*rest, longestRest)
	}
}

// heard wakes whoever follows. A pushed transaction is not believed, only looked
// at: one that pays nobody whom the last reading watched wakes nobody, as most
// don't; one that does lets the mempool be listed early.
func (s *Source) heard(raw []byte) {
	s.mu.Lock()
	watch := s.watch
	s.mu.Unlock()
	if raw != nil && watch != nil {
		if tx, err := ParseTx(raw, s.params, watch); err == nil {
			if !concerns(tx) {
				return
			}
			s.pool.hurry()
		}
	}
	s.notify()
}

// subscriptions are what btcd is asked to tell.
var subscriptions = []string{"notifyblocks", "notifynewtransactions"}

// notifications listens to btcd's websocket. It stands when both subscriptions
// were granted.
func notifications(ctx context.Context, url string, c *client, up func(), heard func([]byte)) error {
	user, password, err := c.login.get()
	if err != nil {
		return err
	}
	header := http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}
	dialling, cancel := context.WithTimeout(ctx, c.silence)
	defer cancel()
	conn, response, err := websocket.Dial(dialling, url, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		if response != nil && response.StatusCode == http.StatusUnauthorized {
			return refused(false)
		}
		return unreachable(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxPushed)
	for i, method := range subscriptions {
		body, err := json.Marshal(call{"1.0", int64(i), method, []any{}})
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		if err := conn.Write(dialling, websocket.MessageText, body); err != nil {
			return broken(err)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx, conn)
	for granted := 0; ; {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return broken(err)
		}
		var notice struct {
			Method string    `json:"method"`
			Error  *rpcError `json:"error"`
		}
		switch err := json.Unmarshal(message, &notice, frugal); {
		case err != nil:
			return strange("btcd's websocket", errors.New("not JSON"))
		case notice.Error != nil:
			return method("notifications", notice.Error)
		case notice.Method != "":
			heard(nil)
		default:
			if granted++; granted == len(subscriptions) {
				up()
			}
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
