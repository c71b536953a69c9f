package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"cointill/chain/node"
)

// maxPushed bounds one pushed message: a raw block, or a notification of btcd.
const maxPushed = maxRaw

// listen adds the push connections of a node.
func (s *Source) listen(e *endpoint, http *client) {
	for _, at := range e.zmq {
		s.Add(node.Listener{Host: at, Kind: "zmq", Listen: func(ctx context.Context, up func()) error { return subscribe(ctx, at, up, s.heard) }})
	}
	if e.socket != "" {
		s.Add(node.Listener{Host: e.host, Kind: "websocket", Listen: func(ctx context.Context, up func()) error {
			return notifications(ctx, e.socket, http, up, s.heard)
		}})
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
	s.Wake()
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
	conn, status, err := c.Dial(ctx, url, node.Basic(user, password))
	switch {
	case status == http.StatusUnauthorized:
		return refused(false)
	case status != 0:
		return node.Unreachable(err)
	case err != nil:
		return err
	}
	var wishes [][]byte
	for i, method := range subscriptions {
		body, err := json.Marshal(call{"1.0", int64(i), method, []any{}})
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		wishes = append(wishes, body)
	}
	granted := 0
	return c.Listen(ctx, conn, maxPushed, wishes, func(message []byte) error {
		var notice struct {
			Method string    `json:"method"`
			Error  *rpcError `json:"error"`
		}
		switch err := json.Unmarshal(message, &notice, node.Frugal); {
		case err != nil:
			return node.Strange("btcd's websocket", errors.New("not JSON"))
		case notice.Error != nil:
			return method("notifications", notice.Error)
		case notice.Method != "":
			heard(nil)
		default:
			if granted++; granted == len(subscriptions) {
				up()
			}
		}
		return nil
	})
}
