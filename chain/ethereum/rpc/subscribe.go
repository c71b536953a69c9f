package ethereum

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

// subscribeHeads listens to a node's stream of new blocks. The content of a message is not used:
// heard only signals that there may be a new block.
func subscribeHeads(ctx context.Context, e endpoint, c *node.Client, up, heard func()) error {
	conn, status, err := c.DialWebsocket(ctx, e.stream, e.streamHeader)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return forbiddenError(status)
	case status != 0:
		return node.UnreachableError(err)
	case err != nil:
		return err
	}
	wish := newRequest("eth_subscribe", "newHeads")
	wish.ID = 1
	body, err := json.Marshal(wish)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	return c.ListenWebsocket(ctx, conn, maxPushMessage, [][]byte{body}, func(message []byte) error {
		var notice struct {
			Method string    `json:"method"`
			Error  *rpcError `json:"error"`
		}
		switch err := json.Unmarshal(message, &notice, node.AllowDuplicateNames); {
		case err != nil:
			return invalidAnswerError(errors.New("no JSON"))
		case notice.Error != nil:
			return refusedError(notice.Error)
		case notice.Method == "":
			up()
		default:
			heard()
		}
		return nil
	})
}
