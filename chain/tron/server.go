package tron

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/chain/tron/params"
	"cointill/core/clock"
)

// maxFuture is how far a block's time may be ahead of the local clock.
const maxFuture = 2 * time.Minute

// server is one node of a network, with its cached state.
type server struct {
	*quorum.Node
	*client
	params params.Params
	clock  clock.Clock

	// noGetBlock says that the node lacks getblock, which gives a header without its transactions.
	noGetBlock atomic.Bool
	headers    quorum.Cache[string, chain.Header] // by hash

	mu       sync.Mutex
	solidity int64 // the height of the last solidified block
}

// Forget implements quorum.Adapter. A node that limits requests is still the same one, and asking it who it is takes
// more of them.
func (n *server) Forget() {
	if n.pause.Left() == 0 {
		n.Node.Forget()
	}
}

// Handshake implements quorum.Adapter. It sends two requests, and three more every ten minutes.
func (n *server) Handshake(ctx context.Context) (v quorum.View, err error) {
	v.Dialect = "tron"
	if !n.IsIdentified() {
		if err := n.verifyIdentity(ctx); err != nil {
			return v, err
		}
	}
	if v.Tip, err = n.fetchLatest(ctx, "/wallet/"); err != nil {
		return v, err
	}
	solid, err := n.fetchLatest(ctx, solidityPaths)
	if err != nil {
		return v, err
	}
	n.mu.Lock()
	n.solidity = solid.Height
	n.mu.Unlock()
	n.headers.Keep(v.Tip.Hash, v.Tip)
	return v, n.checkTipAge(v.Tip)
}

// verifyIdentity checks that the node follows the configured network, and that USDT is there.
func (n *server) verifyIdentity(ctx context.Context) error {
	n.noGetBlock.Store(false)
	first, err := n.fetchHeader(ctx, 0)
	if err != nil {
		return err
	}
	if first.Hash != n.params.Genesis {
		found := params.NameOfGenesis(first.Hash)
		if found == "" {
			found = "of a network that is not known here"
		} else {
			found = "the one of " + found
		}
		return node.NewFailure(fmt.Errorf("its first block is %s", first.Hash), "follows another network than %s: its "+
			"first block is %s. Check which node its URL leads to, and which network is configured.",
			n.params.Network(), found)
	}
	if err := n.checkToken(ctx); err != nil {
		return err
	}
	n.SetIdentified()
	return nil
}

// checkTipAge checks that the time of the last block is near the local time.
func (n *server) checkTipAge(tip chain.Header) error {
	return node.CheckTipAge(tip, n.clock(), n.params.Stale, maxFuture, "hangs, or is still downloading the chain: its "+
		"last block, %d, is %s old. Check its connections to other nodes, and this machine's clock.")
}

// fetchLatest reads the header of the last block, or of the last solidified one, by where its paths begin.
func (n *server) fetchLatest(ctx context.Context, paths string) (chain.Header, error) {
	h, err := n.askHeader(ctx, paths, nil, "getnowblock", nil)
	if err != nil {
		return chain.Header{}, err
	}
	return verifyHeader(h)
}

// fetchHeader reads the header at a height of the node's chain.
func (n *server) fetchHeader(ctx context.Context, height int64) (chain.Header, error) {
	h, err := n.askHeader(ctx, "/wallet/", strconv.FormatInt(height, 10), "getblockbynum",
		map[string]any{"num": height})
	if err != nil {
		return chain.Header{}, err
	}
	out, err := h.verifyAt(height)
	if err == nil {
		n.headers.Keep(out.Hash, out)
	}
	return out, err
}

// ReadParent implements quorum.ForkAdapter. It reads the parent of a header by its id.
func (n *server) ReadParent(ctx context.Context, h chain.Header) (chain.Header, error) {
	if known, ok := n.headers.Find(h.Parent); ok {
		return known, ctx.Err()
	}
	parent, err := n.askHeader(ctx, "/wallet/", h.Parent, "getblockbyid", map[string]any{"value": h.Parent})
	if err != nil {
		return chain.Header{}, err
	}
	out, err := parent.verifyAt(h.Height - 1)
	if err == nil && out.Hash != h.Parent {
		err = inconsistentBlockError(h.Height-1, fmt.Errorf("the answer is block %s instead of %s", out.Hash, h.Parent))
	}
	if err == nil {
		n.headers.Keep(out.Hash, out)
	}
	return out, err
}

// askHeader asks for a header by getblock, or by an older method, whose answers hold all transactions.
func (n *server) askHeader(ctx context.Context, paths string, idOrNum any, older string,
	request map[string]any) (*header, error) {
	if !n.noGetBlock.Load() {
		asked := map[string]any{"detail": false}
		if idOrNum != nil {
			asked["id_or_num"] = idOrNum
		}
		h := new(header)
		err := n.postInto(ctx, maxSmallResponse, paths+"getblock", asked, h)
		if !errors.Is(err, errNoPath) {
			return h, err
		}
		n.noGetBlock.Store(true)
	}
	h := new(header)
	return h, n.postInto(ctx, maxBlockResponse, paths+older, request, h)
}

// verifyHeader verifies an answer that must be a block.
func verifyHeader(h *header) (chain.Header, error) {
	if h.ID == (hash{}) {
		return chain.Header{}, node.NewFailure(nil, "has no block yet. Wait until it has caught up.")
	}
	out, err := h.verifyHash()
	if err != nil {
		return out, node.DamagedDataError("a block", err)
	}
	return out, nil
}

// verifyAt verifies an answer that must be the block at a height.
func (h *header) verifyAt(height int64) (chain.Header, error) {
	if h.ID == (hash{}) {
		return chain.Header{}, missingBlockError(height, errors.New("an empty answer"))
	}
	out, err := verifyHeader(h)
	if err == nil && out.Height != height {
		err = inconsistentBlockError(height, fmt.Errorf("the answer is block %d", out.Height))
	}
	return out, err
}

// fetchBlock reads the block at a height with the results of its transactions. Two servers behind one address may
// answer the two requests, and one of them may lag or be on another branch. So the block is used only if each
// transaction has a result of this block. The header says whether there are transactions.
func (n *server) fetchBlock(ctx context.Context, height int64) (*readBlock, error) {
	block, asked := new(fullBlock), map[string]any{"num": height}
	if err := n.postInto(ctx, maxBlockResponse, "/wallet/getblockbynum", asked, block); err != nil {
		return nil, err
	}
	h, err := block.verifyAt(height)
	if err != nil {
		return nil, err
	}
	n.headers.Keep(h.Hash, h)
	out := &readBlock{Header: h}
	if block.Head.Raw.hasTransactions() != (len(block.Transactions) > 0) {
		return nil, inconsistentBlockError(height,
			fmt.Errorf("%d transactions, and the root %x", len(block.Transactions),
				[]byte(block.Head.Raw.Root)))
	}
	if len(block.Transactions) == 0 || height == 0 { // the first block's transactions have no results
		return out, ctx.Err()
	}
	var all infos
	if err := n.postInto(ctx, maxInfoResponse, "/wallet/gettransactioninfobyblocknum", asked, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, missingBlockError(height, fmt.Errorf("no results for its %d transactions", len(block.Transactions)))
	}
	ordered, err := matchInfos(block, all)
	if err == nil {
		out.movements, err = findMovements(block, ordered, account(n.params.Token))
	}
	if err != nil {
		return nil, inconsistentBlockError(height, err)
	}
	return out, nil
}
