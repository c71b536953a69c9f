package ethereum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cointill/chain/ethereum/rpc"
	"cointill/core/clock"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
	"cointill/chain/quorum"
)

const (
	// maxBlockResponse bounds a block with its transactions, and the receipts of a block. A block
	// has at most 10 MiB (EIP-7934), which is twice as much in hexadecimal; receipts usually take
	// some 3 MiB. The receipts of a block that is filled with logs can be longer and are then
	// fetched one by one.
	maxBlockResponse = 32 << 20
	// maxTraceResponse bounds the trace of a block, which is usually 15 MiB or less.
	maxTraceResponse = 64 << 20
	// maxSmallResponse bounds every other answer.
	maxSmallResponse = 1 << 20
	// maxFuture is how far a block's time may be ahead of the local clock.
	maxFuture = 2 * time.Minute
)

// server is one node of a network, with its cached state.
type server struct {
	*quorum.Node
	*rpc.Client
	clock    clock.Clock
	endpoint endpoint
	params   params.Params

	noBlockReceipts atomic.Bool // the node lacks eth_getBlockReceipts
	noPending       atomic.Bool // the node does not show pending transactions
	usesTraceBlock  atomic.Bool // the node shows internal transfers by trace_block
	// maxRange is for how many blocks the node gives logs at once; 0 means defaultRange.
	maxRange atomic.Int64
	headers  quorum.Cache[string, chain.Header] // by hash

	mu             sync.Mutex
	version        string
	saysFinalized  bool // the node supports the block tag finalized
	finalized      int64
	finalizedTime  time.Time // of the finalized block; zero if the node reports none
	finalizedFor   string    // hash of the tip that the node had then
	token          tokenState
	balanceDispute string // how the node contradicts another one about balances; "" if it does not
}

// Handshake implements quorum.Adapter. Providers count calls, so a node of a public network is asked one thing while it
// has no new block, one more when it has one, and some more every ten minutes. A node of a private network, where blocks
// may be rare or come at once, is asked everything together each time.
func (n *server) Handshake(ctx context.Context) (v quorum.View, err error) {
	v.Dialect = "ethereum"
	requests := []rpc.Request{rpc.NewRequest("eth_getBlockByNumber", "latest", false)}
	together := n.params.Private || !n.IsIdentified()
	if !n.IsIdentified() {
		if err := n.verifyIdentity(ctx); err != nil {
			return v, err
		}
	}
	if together { // later on the age of the last block shows whether the node downloads the chain
		requests = append(requests, newFinalizedRequest(), rpc.NewRequest("eth_syncing"))
	}
	n.mu.Lock()
	v.Version = n.version
	n.mu.Unlock()
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return v, err
	}
	if v.Tip, err = n.readHeader(responses[0]); err != nil {
		return v, err
	}
	switch {
	case together:
		if err = n.checkSynced(responses[2]); err == nil {
			err = n.readFinalized(responses[1], v.Tip)
		}
	case !n.knowsFinalized(v.Tip):
		err = n.fetchFinalized(ctx, v.Tip)
	}
	if err != nil {
		return v, err
	}
	n.headers.Keep(v.Tip.Hash, v.Tip)
	return v, n.checkTipAge(v.Tip)
}

// knowsFinalized reports whether it is known which block was finalized when the node had a tip.
func (n *server) knowsFinalized(tip chain.Header) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.saysFinalized && n.finalizedFor == tip.Hash
}

// newFinalizedRequest asks which block is finalized.
func newFinalizedRequest() rpc.Request {
	return rpc.NewRequest("eth_getBlockByNumber", "finalized", false)
}

// fetchFinalized reads which block is finalized.
func (n *server) fetchFinalized(ctx context.Context, tip chain.Header) error {
	response, err := n.CallOne(ctx, maxSmallResponse, newFinalizedRequest())
	if err != nil {
		return err
	}
	return n.readFinalized(response, tip)
}

// verifyIdentity checks that the node follows the configured chain, and reads the state of the
// token's contract.
func (n *server) verifyIdentity(ctx context.Context) error {
	responses, err := n.CallAll(ctx, maxSmallResponse, rpc.NewRequest("eth_chainId"),
		rpc.NewRequest("web3_clientVersion"), rpc.NewRequest("eth_getBlockByNumber", "0x0", false))
	if err != nil {
		return err
	}
	if err := n.checkChain(responses); err != nil {
		return err
	}
	token, err := n.fetchTokenState(ctx)
	if err != nil {
		return err
	}
	var version string
	if responses[1].DecodeInto(&version) != nil {
		version = "" // some providers do not report it
	}
	n.noBlockReceipts.Store(false)
	n.usesTraceBlock.Store(false)
	n.maxRange.Store(0)
	n.noPending.Store(n.endpoint.noPending)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.MaxBatch.Store(0) // the reason for smaller batches may have been temporary
	n.version, n.token = node.PrintableText(version), token
	n.SetIdentified()
	return nil
}

// checkChain compares the chain id and the first block with the configured network. If a provider
// does not have the first block, its chain id is enough.
func (n *server) checkChain(responses []rpc.Response) error {
	var id quantity
	if err := responses[0].DecodeInto(&id); err != nil {
		return asRefusal(err)
	}
	if int64(id) != n.params.ChainID {
		return node.NewFailure(nil, "follows another network than %s: its chain id is %d, not %d. Check which node its "+
			"URL leads to, and which network is configured.", n.params.Network(), id, n.params.ChainID)
	}
	var first header
	if n.params.Genesis == "" || responses[2].IsNull() || responses[2].DecodeInto(&first) != nil || first.Hash == nil {
		return nil
	}
	if got := first.Hash.String(); got != n.params.Genesis {
		return node.NewFailure(fmt.Errorf("its first block is %s", got),
			"follows another network than %s: its chain id is the same, and its first block is another one. Check "+
				"which node its URL leads to.", n.params.Network())
	}
	return nil
}

// readHeader reads an answer that must be a block.
func (n *server) readHeader(r rpc.Response) (chain.Header, error) {
	var h header
	if err := r.DecodeInto(&h); err != nil {
		return chain.Header{}, asRefusal(err)
	}
	got, err := h.toChainHeader()
	if err != nil {
		return chain.Header{}, rpc.InvalidAnswerError(err)
	}
	return got, nil
}

// readFinalized stores the finalized block. The node may report none, because its provider does
// not support the tag or because no consensus client is connected. On networks that finalize within a second it may
// be above the tip, which the node had a moment before.
func (n *server) readFinalized(r rpc.Response, tip chain.Header) error {
	var at int64
	var ends time.Time
	says := r.Error == nil && !r.IsNull()
	if says {
		final, err := n.readHeader(r)
		if err != nil {
			return err
		}
		at, ends = final.Height, final.Time
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saysFinalized, n.finalized, n.finalizedTime, n.finalizedFor = says, at, ends, tip.Hash
	return nil
}

// checkSynced checks that the node is not downloading the chain. eth_syncing answers false, or the
// progress of the download.
func (n *server) checkSynced(r rpc.Response) error {
	if r.Error != nil || r.IsNull() || r.Result.Kind() == 'f' {
		return nil // without an answer the time of the last block decides
	}
	return node.NewFailure(nil, "is still downloading the chain. Wait until it has caught up.")
}

// checkTipAge checks that the time of the last block is near the local time.
func (n *server) checkTipAge(tip chain.Header) error {
	return node.CheckTipAge(tip, n.clock(), n.params.Stale, maxFuture, "hangs, or the network makes no blocks: its "+
		"last block, %d, is %s old. Where a block explorer shows newer ones, check the node's connections to other "+
		"nodes, its consensus client, and this machine's clock.")
}

// fetchHeader reads the header at a height of the node's chain.
func (n *server) fetchHeader(ctx context.Context, height int64) (chain.Header, error) {
	r, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_getBlockByNumber", encodeHeight(height), false))
	if err != nil {
		return chain.Header{}, err
	}
	h, err := n.readExistingHeader(r, height)
	if err == nil && h.Height != height {
		err = inconsistentBlockError(height, fmt.Errorf("the answer is block %d", h.Height))
	}
	return h, err
}

// ReadParent implements quorum.ForkAdapter. It reads the parent of a header by its hash.
func (n *server) ReadParent(ctx context.Context, h chain.Header) (chain.Header, error) {
	if known, ok := n.headers.Find(h.Parent); ok && known.Height == h.Height-1 {
		return known, ctx.Err()
	}
	r, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_getBlockByHash", h.Parent, false))
	if err != nil {
		return chain.Header{}, err
	}
	parent, err := n.readExistingHeader(r, h.Height-1)
	if err == nil && (parent.Hash != h.Parent || parent.Height != h.Height-1) {
		err = inconsistentBlockError(h.Height-1,
			fmt.Errorf("the answer is block %s instead of %s", parent.Hash, h.Parent))
	}
	if err == nil {
		n.headers.Keep(parent.Hash, parent)
	}
	return parent, err
}

// readExistingHeader reads an answer that must be a block which the node should have.
func (n *server) readExistingHeader(r rpc.Response, height int64) (chain.Header, error) {
	if err := findMissing(r, height); err != nil {
		return chain.Header{}, err
	}
	return n.readHeader(r)
}

// asRefusal converts a node's error about a call that every node must answer.
func asRefusal(err error) error {
	var e *rpc.Error
	if errors.As(err, &e) {
		return rpc.RefusedError(e)
	}
	return err
}

// encodeHeight formats a height as a JSON-RPC quantity.
func encodeHeight(height int64) string { return fmt.Sprintf("0x%x", height) }
