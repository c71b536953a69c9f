package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

const (
	// defaultConfirmTimeout is the time that a second node gets to receive a block that the first
	// one has already. The second node is polled every pollInterval meanwhile.
	defaultConfirmTimeout = 3 * time.Second
	pollInterval          = 200 * time.Millisecond
	// maxLag is the number of blocks from which on a lagging node is not waited for.
	maxLag = 3
)

// errMissingBlock is the cause of errors about a block that a node does not have, or has only in
// part.
var errMissingBlock = errors.New("the block is missing")

// confirmBlock compares a block with the answer of a second node, which is asked by other methods
// than the first. This detects a provider that hides a log or invents one. While the two differ,
// nothing in the block is counted. If no other node is healthy and has the block, the first node
// is trusted. Traced says that internal transfers were read too.
func (s *Source) confirmBlock(ctx context.Context, n *server, block chain.Block, watch chain.Watch, traced bool) error {
	for _, other := range s.healthyOthers(n) {
		same, lags, err := s.confirmWith(ctx, other, block, watch, traced)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case lags:
			continue // the node lags or follows another branch, which its tip shows
		}
		other.setConfirmFailure(err)
		switch {
		case same:
			return nil
		case err == nil:
			return disagreementError(n, other, len(s.servers), block.BlockID)
		}
	}
	return nil
}

// confirmWith reports whether a node agrees about a block, or lacks it. The time is bounded,
// because a node that answers slowly must not use up the follower's timeout.
func (s *Source) confirmWith(ctx context.Context, other *server, block chain.Block, watch chain.Watch,
	traced bool) (same, lags bool, err error) {
	within, cancel := context.WithTimeout(ctx, s.nodes.Timing.CheckTimeout)
	defer cancel()
	full, said, err := other.awaitBlock(within, block.Header, watch, s.confirmTimeout)
	if errors.Is(err, errMissingBlock) {
		return false, true, err
	}
	same = err == nil && sameContents(block, said)
	if same && (traced && other.endpoint.traceBlocks || len(internalKeys(block)) > 0) {
		same, err = other.confirmInternal(within, full, block, watch)
	}
	if err != nil && within.Err() != nil {
		err = node.SilentError(s.nodes.Timing.CheckTimeout)
	}
	return same, false, err
}

// healthyOthers returns the healthy nodes without one of them, in the configured order. With nil
// it returns all healthy nodes.
func (s *Source) healthyOthers(n *server) (all []*server) {
	for _, other := range s.servers {
		if other != n && other.LastView().Healthy() {
			all = append(all, other)
		}
	}
	return all
}

// disagreementError returns the error for two nodes that show different contents of one block.
func disagreementError(n, other *server, nodes int, block chain.BlockID) error {
	a, b := min(n.Number, other.Number), max(n.Number, other.Number)
	return fmt.Errorf("%w (%s, %s: block %s)",
		chain.Problem(fmt.Sprintf("Nodes %d and %d of %d disagree about what block %d holds. Nothing in it is "+
			"counted until they agree. If that takes longer than a few minutes, find out which of them is "+
			"wrong, and stop it.", a,
			b, nodes, block.Height)), n.Host, other.Host, block.Hash)
}

// awaitBlock reads the block with a hash. If the node is about to receive the block, awaitBlock
// polls until it has it or patience has passed.
func (n *server) awaitBlock(ctx context.Context, h chain.Header, watch chain.Watch,
	patience time.Duration) (full *fullBlock, block chain.Block, err error) {
	err = pollUntil(ctx, patience, func() (bool, error) {
		full, block, err = n.fetchBlockByHash(ctx, h, watch)
		return arrivesSoon(err, h.Height-n.LastView().Tip.Height), err
	})
	return full, block, err
}

// arrivesSoon reports whether an error means that a block is missing on a node that lags by less
// than maxLag blocks. Lacks is the number of blocks by which it lags.
func arrivesSoon(err error, lacks int64) bool {
	return errors.Is(err, errMissingBlock) && lacks > 0 && lacks < maxLag
}

// pollUntil calls ask every pollInterval until ask reports that there is no more to wait for, or
// until patience has passed.
func pollUntil(ctx context.Context, patience time.Duration, ask func() (more bool, err error)) error {
	end := time.NewTimer(patience)
	defer end.Stop()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		more, err := ask()
		if !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return err
		case <-again.C:
		}
	}
}

// fetchBlockByHash reads the block with a hash from its transactions, the token's logs, and the
// receipts of transactions that may concern the watch.
func (n *server) fetchBlockByHash(ctx context.Context, h chain.Header,
	watch chain.Watch) (*fullBlock, chain.Block, error) {
	r, err := n.callOne(ctx, maxBlockResponse, newRequest("eth_getBlockByHash", h.Hash, true))
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
	said, err := block.toChainHeader()
	return block, chain.Block{Header: said, Transfers: out.transfers, Spends: out.spends}, err
}

// sameContents reports whether two readings of a block are equal. Internal transfers are left out,
// because not every node shows them: see confirmInternal.
func sameContents(a, b chain.Block) bool {
	return a.Header == b.Header && slices.Equal(contentKeys(a), contentKeys(b))
}

// contentKeys lists the transfers and spends of a block in an order that does not depend on how
// the block was read. Tokens that pay nothing are left out: no node can hold up a block by them.
func contentKeys(block chain.Block) []string {
	var all []string
	for _, t := range block.Transfers {
		if t.Index < indexInternal && (t.Asset == string(money.ETH) || t.Asset == string(money.USDT)) {
			all = append(all, fmt.Sprint(t.Key(), " ", t.Asset, " ", t.Address, " ", t.Amount, " ", t.Reverted,
				" ", t.Via))
		}
	}
	for _, s := range block.Spends {
		all = append(all, s.Key+" by "+s.TxID)
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}

// setConfirmFailure stores why the node could not confirm a block. Nil clears it.
func (n *server) setConfirmFailure(err error) {
	sentence := ""
	if err != nil {
		sentence = "Blocks are counted without its confirmation: " + n.ProblemSentence(n.WrapProblem(err))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.confirmFailure = sentence
}
