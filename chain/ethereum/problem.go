package ethereum

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cointill/chain/node"
)

// Codes of errors that mean something to us.
const (
	codeNoMethod        = -32601 // no such method
	codeLimit           = -32005 // asked too often, or for too much
	codeUnknown         = -39001 // no such block yet
	codePruned          = 4444   // history that the node doesn't keep
	codeReverted        = 3      // a contract undid what it was called for
	codeTooManyRequests = 429
)

// rpcError is an error that a node's method returned. The message is the node's.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, node.Clip(e.Message)) }

// messageContains reports whether the message holds one of some words.
func (e *rpcError) messageContains(words ...string) bool {
	message := strings.ToLower(node.Clip(e.Message))
	for _, word := range words {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// isRateLimited reports the forms in which providers say that they are asked too often.
func (e *rpcError) isRateLimited() bool {
	return e.Code == codeTooManyRequests || e.messageContains("rate limit", "too many requests", "compute units", "request limit", "capacity exceeded", "requests per second", "exceeded the quota") ||
		e.Code == codeLimit && e.messageContains("limit exceeded", "daily request count")
}

// isNoMethod reports that the node has no such method, or doesn't let us use it.
func (e *rpcError) isNoMethod() bool {
	return e.Code == codeNoMethod || e.messageContains("method not found", "not supported", "not available", "unsupported method", "not whitelisted", "unknown method", "not allowed", "method is not")
}

// isRevert reports that a contract, not the node, refused a call.
func (e *rpcError) isRevert() bool {
	return e.Code == codeReverted || e.messageContains("revert", "invalid opcode", "vm execution error")
}

// isPruned reports that the node threw away, or never had, what was asked for.
func (e *rpcError) isPruned() bool {
	return e.Code == codePruned || e.messageContains("pruned", "missing trie node", "history", "archive", "historical state", "header not found", "state not available", "state is not available")
}

// invalidAnswerError is an answer that no node of Ethereum gives.
func invalidAnswerError(cause error) error { return node.Strange("a node's JSON-RPC", cause) }

// refusedError is an error about a question that every node answers.
func refusedError(cause error) error {
	return node.Troubled(cause, "refuses a question that every node of Ethereum answers. Look into its log, and check what its URL, or the plan of its provider, allows.")
}

func forbiddenError(status int) error {
	return node.Troubled(fmt.Errorf("HTTP %d", status), "refuses to answer (HTTP %d). Check user, password and the provider's key in its URL, and whom it lets in.", status)
}

func overloadedError(cause error) error {
	return node.Troubled(cause, "is asked more often than it allows. It is asked less for a while; if that stays, use a node of your own, a larger plan, or one more node.")
}

// missingBlockError is a block, or something of it, that the node should have.
func missingBlockError(height int64, cause error) error {
	return node.Troubled(fmt.Errorf("%w: %w", errMissingBlock, cause), "doesn't have block %d, or not all of it. It may be behind for a moment; if that stays, use one more node, with a longer history.", height)
}

// inconsistentBlockError are answers of which one part is of another block than the other.
func inconsistentBlockError(height int64, cause error) error {
	return node.Troubled(cause, "gives parts of block %d that don't fit together. Nothing of it is counted, and it is read again; if that stays, use another node.", height)
}

// unreadableError is the error for a body that is no answer.
func unreadableError(status int, body []byte, err error) error {
	switch {
	case status >= 500:
		return node.Failing(status)
	case status != http.StatusOK:
		return invalidAnswerError(fmt.Errorf("HTTP %d", status))
	case len(body) == 0:
		return invalidAnswerError(errors.New("an empty answer"))
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return invalidAnswerError(errors.New("a web page"))
	}
	return invalidAnswerError(errors.New(node.Clip(err.Error())))
}
