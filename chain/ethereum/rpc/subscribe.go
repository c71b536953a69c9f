package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"cointill/chain/node"
)

// maxPushMessage bounds one pushed message, which holds a header.
const maxPushMessage = 1 << 20

// SubscribeHeads listens to a node's stream of new blocks at a websocket's URL. It calls up when the node has accepted
// the subscription, and heard with each message, which says that there may be a new block.
func SubscribeHeads(ctx context.Context, c *node.Client, url string, header http.Header, up, heard func()) error {
	conn, status, err := c.DialWebsocket(ctx, url, header)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return forbiddenError(status)
	case status != 0:
		return node.UnreachableError(err)
	case err != nil:
		return err
	}
	wish := NewRequest("eth_subscribe", "newHeads")
	wish.ID = 1
	body, err := json.Marshal(wish)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	return c.ListenWebsocket(ctx, conn, maxPushMessage, [][]byte{body}, func(message []byte) error {
		var notice struct {
			Method string `json:"method"`
			Error  *Error `json:"error"`
		}
		switch err := json.Unmarshal(message, &notice, node.AllowDuplicateNames); {
		case err != nil:
			return InvalidAnswerError(errors.New("no JSON"))
		case notice.Error != nil:
			return RefusedError(notice.Error)
		case notice.Method == "":
			up()
		default:
			heard()
		}
		return nil
	})
}
