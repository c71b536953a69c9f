package ethereum

import (
	"errors"
	"fmt"

	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// missingBlockError returns the error for a block, or a part of it, that the node should have.
func missingBlockError(height int64, cause error) error {
	return node.NewFailure(fmt.Errorf("%w: %w", errMissingBlock, cause), "doesn't have block %d, or not all of it. It "+
		"may be behind for a moment; if this continues, use one more node, with a longer history.", height)
}

// findMissing returns a missingBlockError if the answer says that the node doesn't have a block.
func findMissing(r rpc.Response, height int64) error {
	switch {
	case r.Error != nil && (r.Error.IsPruned() || r.Error.Code == rpc.CodeUnknown):
		return missingBlockError(height, r.Error)
	case r.Error == nil && r.IsNull():
		return missingBlockError(height, errors.New("null"))
	}
	return nil
}

// inconsistentBlockError returns the error for answers with parts of different blocks.
func inconsistentBlockError(height int64, cause error) error {
	return node.NewFailure(cause, "gives parts of block %d that don't fit together. Nothing in it is counted, and it "+
		"is read again; if this continues, use another node.", height)
}
