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
)

const (
	// defaultConfirmTimeout is how long a block waits for a second node to have it, which hears
	// of it a little later; askedAgain is how often that one is asked meanwhile.
	defaultConfirmTimeout = 3 * time.Second
	pollInterval          = 200 * time.Millisecond
	// maxLag is how many blocks a node may lack and still be waited for.
	maxLag = 3
)

// errMissingBlock is the cause of errors about a block that a node doesn't have, or not whole.
var errMissingBlock = errors.New("it isn't there")

// confirmBlock holds what a block was read to hold against what a second node says of the
// same block, by another way than the first was asked: a provider that hides a log,
// or shows one that never was, contradicts it. While they differ nothing of the block
// counts. Where no other node is well, or has the block, the one is believed. Traced
// tells that the block was run again.
func (s *Source) confirmBlock(ctx context.Context, n *server, block chain.Block, watch chain.Watch, traced bool) error {
	for _, other := range s.healthyOthers(n) {
		same, lags, err := s.confirmWith(ctx, other, block, watch, traced)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case lags:
			continue // it lags, or is on a branch of its own: its tip tells
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

// confirmWith reports whether a node says the same of a block, or doesn't have it, within
// bounded time: one that drips must not use up what the follower waits for.
func (s *Source) confirmWith(ctx context.Context, other *server, block chain.Block, watch chain.Watch, traced bool) (same, lags bool, err error) {
	within, cancel := context.WithTimeout(ctx, s.nodes.Pace.Most)
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
		err = node.Silent(s.nodes.Pace.Most)
	}
	return same, false, err
}

// healthyOthers are the nodes that are well, in the configured order, without one of them; nil leaves out none.
func (s *Source) healthyOthers(n *server) (all []*server) {
	for _, other := range s.servers {
		if other != n && other.Seen().Healthy() {
			all = append(all, other)
		}
	}
	return all
}

// disagreementError is the problem of two nodes that show different contents of one block.
func disagreementError(n, other *server, nodes int, block chain.BlockID) error {
	a, b := min(n.Number, other.Number), max(n.Number, other.Number)
	return fmt.Errorf("%w (%s, %s: block %s)", chain.Problem(fmt.Sprintf("Nodes %d and %d of %d disagree about what block %d holds. Nothing of it is counted until they "+
		"say the same. If that takes longer than a few minutes, find out which of them is wrong, and stop it.", a, b, nodes, block.Height)), n.Host, other.Host, block.Hash)
}

// awaitBlock reads the block with a hash as a node of few methods is read, and waits for
// one that is about to have it.
func (n *server) awaitBlock(ctx context.Context, h chain.Header, watch chain.Watch, patience time.Duration) (full *fullBlock, block chain.Block, err error) {
	err = pollUntil(ctx, patience, func() (bool, error) {
		full, block, err = n.fetchBlockByHash(ctx, h, watch)
		return arrivesSoon(err, h.Height-n.Seen().Tip.Height), err
	})
	return full, block, err
}

// arrivesSoon reports whether a node that answered with an error about a block, and lacks so
// many, is about to have it.
func arrivesSoon(err error, lacks int64) bool {
	return errors.Is(err, errMissingBlock) && lacks > 0 && lacks < maxLag
}

// pollUntil asks every so often until there is nothing to wait for, or patience ends.
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

// fetchBlockByHash reads the block with a hash by its transactions, the token's logs, and the
// receipts of what concerns the watch.
func (n *server) fetchBlockByHash(ctx context.Context, h chain.Header, watch chain.Watch) (*fullBlock, chain.Block, error) {
	r, err := n.callOne(ctx, maxBlockResponse, newRequest("eth_getBlockByHash", h.Hash, true))
	if err != nil {
		return nil, chain.Block{}, err
	}
	block, err := decodeBlock(r, h.Height)
	if err != nil {
		return nil, chain.Block{}, err
	}
	if block.Hash.String() != h.Hash {
		return nil, chain.Block{}, inconsistentBlockError(h.Height, fmt.Errorf("block %s came for %s", block.Hash, h.Hash))
	}
	out := &transferFinder{token: account(n.params.Token), watch: watch}
	if err := n.searchByLogs(ctx, out, block); err != nil {
		return nil, chain.Block{}, err
	}
	said, err := block.toChainHeader()
	return block, chain.Block{Header: said, Transfers: out.transfers, Spends: out.spends}, err
}

// sameContents reports whether two readings of a block found the same, but for what
// contracts send on: not every node shows that (see bearsOut).
func sameContents(a, b chain.Block) bool {
	return a.Header == b.Header && slices.Equal(contentKeys(a), contentKeys(b))
}

// contentKeys are what a reading found, in an order that doesn't depend on how it was read.
func contentKeys(block chain.Block) []string {
	var all []string
	for _, t := range block.Transfers {
		if t.Index < indexInternal {
			all = append(all, fmt.Sprint(t.Key(), " ", t.Asset, " ", t.Address, " ", t.Amount, " ", t.Reverted, " ", t.Via))
		}
	}
	for _, s := range block.Spends {
		all = append(all, s.Key+" by "+s.TxID)
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}

// setConfirmFailure notes that the node was asked to confirm a block and couldn't; nil takes that back.
func (n *server) setConfirmFailure(err error) {
	sentence := ""
	if err != nil {
		sentence = "Blocks are counted without its word, as it doesn't confirm them: " + n.Sentence(n.Problem(err))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.confirmFailure = sentence
}
