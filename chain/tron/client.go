package tron

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cointill/chain/node"
)

const (
	// maxBlockResponse bounds a block with its transactions. A block has at most 2 MB, which its JSON writes
	// several times in hexadecimal.
	maxBlockResponse = 32 << 20
	// maxInfoResponse bounds the results of a block's transactions. Usual ones take less than 1 MiB.
	maxInfoResponse = 64 << 20
	// maxSmallResponse bounds every other answer.
	maxSmallResponse = 1 << 20
	// maxErrorText is how long an answer may be that is looked through for an error of the node.
	maxErrorText = 4 << 10
)

// solidityPaths begin the paths of solidified blocks.
const solidityPaths = "/walletsolidity/"

// client sends requests to one node over HTTP, and pauses after the node reported a limit.
type client struct {
	full, solidity *node.Client
	header         http.Header
	pause          *node.Pause
}

// postRequest sends a request and returns its answer, of at most limit bytes. The error is a node.Failure, or the error
// of the context.
func (c *client) postRequest(ctx context.Context, limit int64, path string, request map[string]any) ([]byte, error) {
	if left := c.pause.Left(); left > 0 {
		return nil, overloadedError(fmt.Errorf("it is paused for another %s", left.Round(time.Second)))
	}
	body, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	at := c.full
	if strings.HasPrefix(path, solidityPaths) {
		at = c.solidity
	}
	reply, err := at.Send(ctx, path, c.header, body, limit)
	if err != nil {
		return nil, err
	}
	return reply.Body, c.checkReply(path, reply)
}

// postInto sends a request and decodes its answer.
func (c *client) postInto(ctx context.Context, limit int64, path string, request map[string]any, into any) error {
	answer, err := c.postRequest(ctx, limit, path, request)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into, node.AllowDuplicateNames); err != nil {
		return node.UnreadableReplyError(serverKind, http.StatusOK, answer, err)
	}
	return nil
}

// nodeError is an error as nodes and providers write it.
type nodeError struct {
	Upper string `json:"Error"`
	Lower any    `json:"error"`
}

// findError returns the error that an answer holds, or "".
func findError(answer []byte) string {
	if len(answer) > maxErrorText || !bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) {
		return ""
	}
	var e nodeError
	if json.Unmarshal(answer, &e, node.AllowDuplicateNames) != nil {
		return ""
	}
	if e.Upper == "" && e.Lower != nil {
		return fmt.Sprint(e.Lower)
	}
	return e.Upper
}

// checkReply returns the error that a reply stands for, and begins a pause if it is a limit.
func (c *client) checkReply(path string, r node.Reply) error {
	text := findError(r.Body)
	limited := r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable || isRateLimit(text)
	switch {
	case limited:
		c.pause.Begin(r.RetryAfter)
		return overloadedError(fmt.Errorf("HTTP %d: %s", r.Status, node.PrintableText(text)))
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		return forbiddenError(r.Status)
	case r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed:
		return noPathError(path, r.Status)
	case r.Status != http.StatusOK:
		return node.UnreadableReplyError(serverKind, r.Status, r.Body, errors.New("another status than 200"))
	case text != "":
		return refusedError(text)
	}
	c.pause.Reset()
	return nil
}
