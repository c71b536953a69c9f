package rpc

import (
	"fmt"

	"cointill/chain/node"
)

// Error codes of nodes.
const (
	CodeNoMethod        = -32601 // unknown method
	codeLimit           = -32005 // rate or size limit exceeded
	CodeUnknown         = -39001 // the block does not exist yet
	CodePruned          = 4444   // the node does not keep that history
	codeReverted        = 3      // a contract reverted the call
	codeTooManyRequests = 429
)

// Error is an error that a node returned for a method. The message is written by the node.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("error %d: %s", e.Code, node.PrintableText(e.Message))
}

// Contains reports whether the message contains one of the given words.
func (e *Error) Contains(words ...string) bool {
	return node.ContainsAny(node.PrintableText(e.Message), words...)
}

// isRateLimited reports whether the error is one of the forms in which providers report a rate
// limit.
func (e *Error) isRateLimited() bool {
	return e.Code == codeTooManyRequests || e.Contains("rate limit", "too many requests", "compute units",
		"request limit", "capacity exceeded", "requests per second", "exceeded the quota") ||
		e.Code == codeLimit && e.Contains("limit exceeded", "daily request count")
}

// IsNoMethod reports whether the node lacks the method or does not permit it.
func (e *Error) IsNoMethod() bool {
	return e.Code == CodeNoMethod || e.Contains("method not found", "not supported", "not available",
		"unsupported method", "not whitelisted", "unknown method", "not allowed", "method is not")
}

// IsRevert reports whether a contract, not the node, rejected a call.
func (e *Error) IsRevert() bool {
	return e.Code == codeReverted || e.Contains("revert", "invalid opcode", "vm execution error")
}

// IsPruned reports whether the node has deleted the requested data, or never had it.
func (e *Error) IsPruned() bool {
	return e.Code == CodePruned || e.Contains("pruned", "missing trie node", "history", "archive",
		"historical state", "header not found", "state not available", "state is not available")
}

// serverKind names the nodes in sentences.
const serverKind = "a node's JSON-RPC"

// InvalidAnswerError returns the error for an answer that no Ethereum node gives.
func InvalidAnswerError(cause error) error {
	return node.UnexpectedAnswerError(serverKind, cause)
}

// RefusedError returns the error for a request that every node must answer, and that this one
// rejected.
func RefusedError(cause error) error {
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
