package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// errMissingBlock is the cause of errors about a block that a node does not have, or has only in
// part.
var errMissingBlock = errors.New("the block is missing")

// confirmBlock compares a block with the answer of a second node, which is asked by other methods
// than the first. This detects a provider that hides a log or invents one. While the two differ,
// nothing in the block is counted. If no other node is healthy and has the block, the first node
// is trusted. Traced says that internal transfers were read too.
func (s *Source) confirmBlock(ctx context.Context, n *server, block chain.Block, watch chain.Watch, traced bool) error {
	_, err := s.nodes.Confirm(ctx, s.nodes.HealthyOthers(n.Node), func(other *server) error {
		same, err := s.confirmWith(ctx, other, block, watch, traced)
		if err != nil || same {
			return err
		}
		return describeDispute(n, other, block.Header)
	})
	return err
}

// describeDispute returns the problem while two nodes contradict each other about a block.
func describeDispute(n, other *server, h chain.Header) error {
	return n.DescribeDisagreement(other.Node, fmt.Sprintf(" about what block %d holds. Nothing in it is counted "+
		"until they agree. If that takes longer than a few minutes, find out which of them is wrong, and stop it.",
		h.Height), h.Hash)
}

// confirmWith reports whether a node agrees about a block. The time is bounded, because a node that
// answers slowly must not use up the follower's timeout.
func (s *Source) confirmWith(ctx context.Context, other *server, block chain.Block, watch chain.Watch,
	traced bool) (same bool, err error) {
	within, cancel := context.WithTimeout(ctx, s.nodes.Timing.CheckTimeout)
	defer cancel()
	full, said, err := other.awaitBlock(within, block.Header, watch, s.confirmTimeout)
	if errors.Is(err, errMissingBlock) {
		return false, quorum.ErrBehind
	}
	same = err == nil && sameContents(block, said)
	if same {
		block.DropDisputed(said)
	}
	if same && (traced && other.endpoint.traceBlocks || len(internalKeys(block)) > 0) {
		same, err = other.confirmInternal(within, full, block, watch)
	}
	switch {
	case err == nil:
		return same, nil
	case within.Err() != nil:
		err = node.SilentError(s.nodes.Timing.CheckTimeout)
	}
	return false, other.WrapProblem(err)
}

// awaitBlock reads the block with a hash. If the node is about to receive the block, awaitBlock
// polls until it has it or patience has passed.
func (n *server) awaitBlock(ctx context.Context, h chain.Header, watch chain.Watch,
	patience time.Duration) (full *fullBlock, block chain.Block, err error) {
	err = quorum.PollUntil(ctx, patience, func() (bool, error) {
		full, block, err = n.fetchBlockByHash(ctx, h, watch)
		return errors.Is(err, errMissingBlock) && n.IsAboutToHave(h.Height), err
	})
	return full, block, err
}

// fetchBlockByHash reads the block with a hash from its transactions, the token's logs, and the
// receipts of transactions that may concern the watch.
func (n *server) fetchBlockByHash(ctx context.Context, h chain.Header,
	watch chain.Watch) (*fullBlock, chain.Block, error) {
	r, err := n.CallOne(ctx, maxBlockResponse, rpc.NewRequest("eth_getBlockByHash", h.Hash, true))
	if err != nil {
		return nil, chain.Block{}, err
	}
	block, err := decodeBlock(r, h.Height)
	if err != nil {
		return nil, chain.Block{}, err
	}
	if block.Hash.String() != h.Hash {
		return nil, chain.Block{},
			inconsistentBlockError(h.Height, fmt.Errorf("the answer is block %s instead of %s", block.Hash, h.Hash))
	}
	out := n.newFinder(watch)
	if err := n.searchByLogs(ctx, out, block); err != nil {
		return nil, chain.Block{}, err
	}
	out.setFees()
	said, err := block.toChainHeader()
	return block, chain.Block{Header: said, Transfers: out.transfers, Spends: out.spends, Departures: out.left}, err
}

// sameContents reports whether two readings of a block are equal. Internal transfers are left out,
// because not every node shows them: see confirmInternal.
func sameContents(a, b chain.Block) bool {
	return a.Header == b.Header && sameTransfers(a, b)
}

// sameTransfers is sameContents for blocks whose parent and time may not be known.
func sameTransfers(a, b chain.Block) bool {
	return a.Hash == b.Hash && slices.Equal(contentKeys(a), contentKeys(b))
}

// contentKeys lists the transfers and spends of a block in an order that does not depend on how
// the block was read. Tokens that pay nothing are left out: no node can hold up a block by them.
func contentKeys(block chain.Block) []string {
	var all []string
	for _, t := range block.Transfers {
		if t.Index < indexInternal && (t.Asset == string(money.ETH) || t.Asset == string(money.USDT)) {
			all = append(all, fmt.Sprint(t.Key(), " ", t.Asset, " ", t.From, t.Address, " ", t.Amount, " ", t.Reverted,
				" ", t.Via))
		}
	}
	for _, s := range block.Spends {
		all = append(all, s.Key+" by "+s.TxID)
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}
