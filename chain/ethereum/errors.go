package ethereum

import (
	"errors"
	"fmt"
	"strings"

	"cointill/chain/node"
)

// Error codes that this package handles.
const (
	codeNoMethod        = -32601 // unknown method
	codeLimit           = -32005 // rate or size limit exceeded
	codeUnknown         = -39001 // the block does not exist yet
	codePruned          = 4444   // the node does not keep that history
	codeReverted        = 3      // a contract reverted the call
	codeTooManyRequests = 429
)

// rpcError is an error that a node returned for a method. The message is written by the node.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("error %d: %s", e.Code, node.PrintableText(e.Message))
}

// messageContains reports whether the message contains one of the given words.
func (e *rpcError) messageContains(words ...string) bool {
	message := strings.ToLower(node.PrintableText(e.Message))
	for _, word := range words {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// isRateLimited reports whether the error is one of the forms in which providers report a rate
// limit.
func (e *rpcError) isRateLimited() bool {
	return e.Code == codeTooManyRequests || e.messageContains("rate limit", "too many requests", "compute units",
		"request limit", "capacity exceeded", "requests per second", "exceeded the quota") ||
		e.Code == codeLimit && e.messageContains("limit exceeded", "daily request count")
}

// isNoMethod reports whether the node lacks the method or does not permit it.
func (e *rpcError) isNoMethod() bool {
	return e.Code == codeNoMethod || e.messageContains("method not found", "not supported", "not available",
		"unsupported method", "not whitelisted", "unknown method", "not allowed", "method is not")
}

// isRevert reports whether a contract, not the node, rejected a call.
func (e *rpcError) isRevert() bool {
	return e.Code == codeReverted || e.messageContains("revert", "invalid opcode", "vm execution error")
}

// isPruned reports whether the node has deleted the requested data, or never had it.
func (e *rpcError) isPruned() bool {
	return e.Code == codePruned || e.messageContains("pruned", "missing trie node", "history", "archive",
		"historical state", "header not found", "state not available", "state is not available")
}

// rpcServerKind names the nodes in sentences.
const rpcServerKind = "a node's JSON-RPC"

// invalidAnswerError returns the error for an answer that no Ethereum node gives.
func invalidAnswerError(cause error) error {
	return node.UnexpectedAnswerError(rpcServerKind, cause)
}

// refusedError returns the error for a request that every node must answer, and that this one
// rejected.
func refusedError(cause error) error {
	return node.NewFailure(cause, "refuses a request that every Ethereum node answers. Check its log, and what its "+
		"URL or its provider's plan allows.")
}

func forbiddenError(status int) error {
	return node.NewFailure(fmt.Errorf("HTTP %d", status), "refuses to answer (HTTP %d). Check user, password and the "+
		"provider's key in its URL, and which clients it accepts.", status)
}

func overloadedError(cause error) error {
	return node.NewFailure(cause, "is asked more often than it allows. It is asked less often for a while; if this "+
		"continues, use a node of your own, a larger plan, or one more node.")
}

// missingBlockError returns the error for a block, or a part of it, that the node should have.
func missingBlockError(height int64, cause error) error {
	return node.NewFailure(fmt.Errorf("%w: %w", errMissingBlock, cause), "doesn't have block %d, or not all of it. It "+
		"may be behind for a moment; if this continues, use one more node, with a longer history.", height)
}

// findMissing returns a missingBlockError if the answer says that the node doesn't have a block.
func (r response) findMissing(height int64) error {
	switch {
	case r.Error != nil && (r.Error.isPruned() || r.Error.Code == codeUnknown):
		return missingBlockError(height, r.Error)
	case r.Error == nil && r.isNull():
		return missingBlockError(height, errors.New("null"))
	}
	return nil
}

// inconsistentBlockError returns the error for answers with parts of different blocks.
func inconsistentBlockError(height int64, cause error) error {
	return node.NewFailure(cause, "gives parts of block %d that don't fit together. Nothing in it is counted, and it "+
		"is read again; if this continues, use another node.", height)
}
