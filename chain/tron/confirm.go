package tron

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain/node"
	"cointill/chain/quorum"
)

// confirmBlock compares a block with the answer of a second node. A header's hash proves no result of a transaction,
// so this detects a node that hides a log or invents one. While the two differ, nothing in the block is counted. If
// no other node is healthy and has the block, the first node is trusted.
func (s *Source) confirmBlock(ctx context.Context, n *server, block *readBlock) error {
	_, err := s.nodes.Confirm(ctx, s.nodes.HealthyOthers(n.Node), func(other *server) error {
		same, err := s.confirmWith(ctx, other, block)
		if err != nil || same {
			return err
		}
		return n.DescribeDisagreement(other.Node, fmt.Sprintf(" about what block %d holds. Nothing in it is counted "+
			"until they agree. If that takes longer than a few minutes, find out which of them is wrong, and stop it.",
			block.Height), block.Hash)
	})
	return err
}

// confirmWith reports whether a node agrees about a block. The time is bounded, because a node that answers slowly
// must not use up the follower's timeout.
func (s *Source) confirmWith(ctx context.Context, other *server, block *readBlock) (same bool, err error) {
	within, cancel := context.WithTimeout(ctx, s.nodes.Timing.CheckTimeout)
	defer cancel()
	var said *readBlock
	err = quorum.PollUntil(within, s.confirmTimeout, func() (more bool, err error) {
		said, err = other.fetchBlock(within, block.Height)
		return errors.Is(err, errMissingBlock) && other.IsAboutToHave(block.Height), err
	})
	switch {
	case errors.Is(err, errMissingBlock), err == nil && said.Hash != block.Hash:
		return false, quorum.ErrBehind // its tip shows that it lags, or is on another branch
	case err == nil:
		return said.Header == block.Header && slices.Equal(said.tokenMovements(), block.tokenMovements()), nil
	case within.Err() != nil:
		err = node.SilentError(s.nodes.Timing.CheckTimeout)
	}
	return false, other.WrapProblem(err)
}

// tokenMovements lists the movements of USDT, without the fees: no payment depends on anything else, so that nothing
// else can hold up a block.
func (b *readBlock) tokenMovements() (all []movement) {
	for _, m := range b.movements {
		if !m.native {
			m.fee = 0
			all = append(all, m)
		}
	}
	return all
}
