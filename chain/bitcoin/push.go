package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"cointill/chain/bitcoin/zmq"
	"cointill/chain/node"
)

// maxPushed bounds one pushed message of btcd.
const maxPushed = maxRaw

// addListeners adds the push connections of a node.
func (s *Source) addListeners(e *endpoint, http *client) {
	for _, at := range e.zmq {
		s.AddListener(node.Listener{Host: at, Kind: "zmq",
			Listen: func(ctx context.Context, up func()) error { return zmq.Subscribe(ctx, at, up, s.handlePush) }})
	}
	if e.websocketURL != "" {
		s.AddListener(node.Listener{Host: e.host, Kind: "websocket",
			Listen: func(ctx context.Context, up func()) error {
				return listenNotifications(ctx, e.websocketURL, http, up, s.handlePush)
			}})
	}
}

// handlePush wakes the followers. A pushed transaction is only parsed, not trusted: one without an
// address that the last reading watched wakes no follower, which holds for most. One with a watched
// address makes the next reading list the mempool early.
func (s *Source) handlePush(raw []byte) {
	s.mu.Lock()
	watch := s.lastWatch
	s.mu.Unlock()
	if raw != nil && watch != nil {
		if tx, err := ParseTx(raw, s.params, watch); err == nil {
			if !isWatched(tx) {
				return
			}
			s.mempool.requestEarlyListing()
		}
	}
	s.Wake()
}

// btcdSubscriptions are the notifications that are requested from btcd.
var btcdSubscriptions = []string{"notifyblocks", "notifynewtransactions"}

// listenNotifications listens to btcd's websocket. The connection is up when btcd has granted both
// subscriptions.
func listenNotifications(ctx context.Context, url string, c *client, up func(), handlePush func([]byte)) error {
	user, password, err := c.login.loadCredentials()
	if err != nil {
		return err
	}
	conn, status, err := c.DialWebsocket(ctx, url, node.BasicAuth(user, password))
	switch {
	case status == http.StatusUnauthorized:
		return loginRefusedError(false)
	case status != 0:
		return node.UnreachableError(err)
	case err != nil:
		return err
	}
	var requests [][]byte
	for i, method := range btcdSubscriptions {
		body, err := json.Marshal(rpcCall{"1.0", int64(i), method, []any{}})
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		requests = append(requests, body)
	}
	granted := 0
	return c.ListenWebsocket(ctx, conn, maxPushed, requests, func(message []byte) error {
		var notice struct {
			Method string    `json:"method"`
			Error  *rpcError `json:"error"`
		}
		switch err := json.Unmarshal(message, &notice, node.AllowDuplicateNames); {
		case err != nil:
			return node.UnexpectedAnswerError("btcd's websocket", errors.New("not JSON"))
		case notice.Error != nil:
			return refusedMethodError("notifications", notice.Error)
		case notice.Method != "":
			handlePush(nil)
		default:
			if granted++; granted == len(btcdSubscriptions) {
				up()
			}
		}
		return nil
	})
}
