package tron

import (
	"errors"
	"fmt"

	"cointill/chain/node"
)

// serverKind names the nodes in sentences.
const serverKind = "the HTTP API of a node of Tron"

// errMissingBlock is the cause of errors about a block that a node does not have, or has only in part.
var errMissingBlock = errors.New("the block is missing")

// errNoPath is the cause of the error for a path that a node doesn't serve.
var errNoPath = errors.New("the node doesn't serve that path")

// invalidAnswerError returns the error for an answer that no node of Tron gives.
func invalidAnswerError(cause error) error { return node.UnexpectedAnswerError(serverKind, cause) }

// missingBlockError returns the error for a block, or a part of it, that the node should have.
func missingBlockError(height int64, cause error) error {
	return node.NewFailure(fmt.Errorf("%w: %w", errMissingBlock, cause), "doesn't have block %d, or not all of it. It "+
		"may be behind for a moment; if this continues, use one more node.", height)
}

// inconsistentBlockError returns the error for answers that can't be parts of one block.
func inconsistentBlockError(height int64, cause error) error {
	return node.NewFailure(cause, "gives parts of block %d that don't fit together. Nothing in it is counted, and it "+
		"is read again; if this continues, use another node.", height)
}

// overloadedError returns the error for a node that limits requests.
func overloadedError(cause error) error {
	return node.NewFailure(cause, "is asked more often than it allows. It is asked less often for a while; if this "+
		"continues, use a node of your own, a larger plan, or one more node.")
}

// forbiddenError returns the error for a node that refuses the client.
func forbiddenError(status int) error {
	return node.NewFailure(fmt.Errorf("HTTP %d", status), "refuses to answer (HTTP %d). Check the provider's key in its "+
		"URL, and which clients it accepts.", status)
}

// noPathError returns the error for a path that the node doesn't serve.
func noPathError(path string, status int) error {
	return node.NewFailure(fmt.Errorf("%w: %s (HTTP %d)", errNoPath, path, status),
		"doesn't serve a part of the HTTP API that is needed. Check that its URL leads to a full node, and name where "+
			"it serves solidified blocks (solidity=http://host:8091) if that isn't the same place.")
}

// refusedError returns the error for a request that every node must answer, and that this one rejected.
func refusedError(text string) error {
	return node.NewFailure(errors.New(node.PrintableText(text)), "refuses a request that every node of Tron answers. "+
		"Check its log, and what its URL or its provider's plan allows.")
}

// isRateLimit reports whether an error that a node wrote is one of the forms in which nodes and providers report a
// limit of requests.
func isRateLimit(text string) bool {
	return node.ContainsAny(text, "frequency limit", "rate limit", "too many requests", "suspended", "request limit",
		"exceeded", "exceeds", "lack of computing resources", "server_busy", "server busy")
}
