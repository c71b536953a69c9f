package ethereum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
)

const (
	// trust is how long it is believed that an address leads to the same node, and
	// that the token's contract is as it was.
	trust = 10 * time.Minute
	// future is how far ahead of our clock a block may be.
	future = 2 * time.Minute
	// keptHeaders bounds how many headers of a node are remembered.
	keptHeaders = 1000
)

// server is one node of a network and what is known of it.
type server struct {
	*node.Node
	*rpc
	endpoint endpoint
	params   params.Params

	single atomic.Bool // it has no eth_getBlockReceipts
	dumb   atomic.Bool // it doesn't show what is pending
	listed atomic.Bool // it shows what contracts send by trace_block

	mu        sync.Mutex
	proved    time.Time // when identity and token were last checked
	version   string
	says      bool // it has the tag finalized
	finalized int64
	ends      time.Time // of the finalized block; zero where it doesn't say
	token     tokenState
	muted     string // why it doesn't confirm what another node says of a block; "" when it does
	doubt     string // how it contradicts another node about balances; "" when it doesn't
	headers   map[hash]chain.Header
}

// Forget implements node.Subject.
func (n *server) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.proved = time.Time{}
}

// Handshake implements node.Subject: one request, and two more every ten minutes.
func (n *server) Handshake(ctx context.Context) (v node.View, err error) {
	v.Dialect = "ethereum"
	if n.due() {
		if err := n.prove(ctx); err != nil {
			return v, err
		}
	}
	n.mu.Lock()
	v.Version = n.version
	n.mu.Unlock()
	replies, err := n.all(ctx, smallAnswer, ask("eth_getBlockByNumber", "latest", false), ask("eth_getBlockByNumber", "finalized", false), ask("eth_syncing"))
	if err != nil {
		return v, err
	}
	if v.Tip, err = n.readHeader(replies[0]); err != nil {
		return v, err
	}
	if err := n.caughtUp(replies[2]); err != nil {
		return v, err
	}
	if err := n.readFinalized(replies[1], v.Tip); err != nil {
		return v, err
	}
	n.remember(v.Tip)
	return v, n.fresh(v.Tip)
}

// due reports whether identity and token must be checked again.
func (n *server) due() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proved.IsZero() || n.clock().Sub(n.proved) > trust
}

// prove checks that the node follows the right chain, and what the token's
// contract says of itself there.
func (n *server) prove(ctx context.Context) error {
	replies, err := n.all(ctx, smallAnswer, ask("eth_chainId"), ask("web3_clientVersion"), ask("eth_getBlockByNumber", "0x0", false))
	if err != nil {
		return err
	}
	if err := n.rightChain(replies); err != nil {
		return err
	}
	token, err := n.readToken(ctx)
	if err != nil {
		return err
	}
	var version string
	if replies[1].into(&version) != nil {
		version = "" // some providers don't say
	}
	n.single.Store(false)
	n.listed.Store(false)
	n.dumb.Store(n.endpoint.quiet)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.most.Store(0) // what refused several questions at once may have been passing
	n.proved, n.version, n.token = n.clock(), node.Clip(version), token
	return nil
}

// rightChain holds chain id and first block against the network's. A provider
// without the first block is believed by its chain id.
func (n *server) rightChain(replies []reply) error {
	var id number
	if err := replies[0].into(&id); err != nil {
		return fault(err)
	}
	other := "follows another network than %s. Check which node its URL leads to, and which network is configured."
	if int64(id) != n.params.ChainID {
		return node.Troubled(fmt.Errorf("its chain id is %d", id), other, n.params.Network())
	}
	var first header
	if n.params.Genesis == "" || replies[2].null() || replies[2].into(&first) != nil || first.Hash == nil {
		return nil
	}
	if got := first.Hash.String(); got != n.params.Genesis {
		return node.Troubled(fmt.Errorf("its first block is %s", got), other, n.params.Network())
	}
	return nil
}

// readHeader reads an answer that must be a block.
func (n *server) readHeader(r reply) (chain.Header, error) {
	var h header
	if err := r.into(&h); err != nil {
		return chain.Header{}, fault(err)
	}
	got, err := h.chain()
	if err != nil {
		return chain.Header{}, strange(err)
	}
	return got, nil
}

// readFinalized notes the finalized block, or that the node says none: its provider
// doesn't have the tag, or nothing told it what is final yet.
func (n *server) readFinalized(r reply, tip chain.Header) error {
	var at int64
	var ends time.Time
	says := r.Error == nil && !r.null()
	if says {
		final, err := n.readHeader(r)
		switch {
		case err != nil:
			return err
		case final.Height > tip.Height:
			return strange(fmt.Errorf("block %d is finalized before it is there: the last is %d", final.Height, tip.Height))
		}
		at, ends = final.Height, final.Time
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.says, n.finalized, n.ends = says, at, ends
	return nil
}

// caughtUp checks that the node has downloaded the chain: it answers false, or how far it is.
func (n *server) caughtUp(r reply) error {
	if r.Error != nil || r.null() || r.Result.Kind() == 'f' {
		return nil // a provider that doesn't say is held against the time of its last block
	}
	return node.Troubled(nil, "is still downloading the chain. Wait until it has caught up.")
}

// fresh checks that the last block's time is near ours.
func (n *server) fresh(tip chain.Header) error {
	age := n.clock().Sub(tip.Time)
	switch {
	case n.params.Stale == 0:
		return nil
	case age > n.params.Stale:
		return node.Troubled(nil, "hangs: its last block, %d, is %s old. Check its connections to other nodes, its consensus client, and this machine's clock.",
			tip.Height, age.Round(time.Minute))
	case age < -future:
		return node.Troubled(nil, "has a last block, %d, from the future. Check this machine's clock, then the node.", tip.Height)
	}
	return nil
}

func (n *server) remember(h chain.Header) {
	key, err := readHash(h.Hash)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.headers) >= keptHeaders {
		clear(n.headers)
	}
	n.headers[key] = h
}

// headerAt reads the header at a height of the node's chain.
func (n *server) headerAt(ctx context.Context, height int64) (chain.Header, error) {
	r, err := n.call(ctx, smallAnswer, ask("eth_getBlockByNumber", hexNumber(height), false))
	if err != nil {
		return chain.Header{}, err
	}
	h, err := n.there(r, height)
	if err == nil && h.Height != height {
		err = torn(height, fmt.Errorf("block %d came for it", h.Height))
	}
	return h, err
}

// parentOf reads the header before another, which its hash names.
func (n *server) parentOf(ctx context.Context, h chain.Header) (chain.Header, error) {
	key, err := readHash(h.Parent)
	if err != nil {
		return chain.Header{}, strange(err)
	}
	n.mu.Lock()
	known, ok := n.headers[key]
	n.mu.Unlock()
	if ok && known.Height == h.Height-1 {
		return known, ctx.Err()
	}
	r, err := n.call(ctx, smallAnswer, ask("eth_getBlockByHash", h.Parent, false))
	if err != nil {
		return chain.Header{}, err
	}
	parent, err := n.there(r, h.Height-1)
	if err == nil && (parent.Hash != h.Parent || parent.Height != h.Height-1) {
		err = torn(h.Height-1, fmt.Errorf("block %s came for %s", parent.Hash, h.Parent))
	}
	if err == nil {
		n.remember(parent)
	}
	return parent, err
}

// there is readHeader for a block that the node must have.
func (n *server) there(r reply, height int64) (chain.Header, error) {
	switch {
	case r.Error != nil && (r.Error.pruned() || r.Error.Code == codeUnknown):
		return chain.Header{}, lacks(height, r.Error)
	case r.Error == nil && r.null():
		return chain.Header{}, lacks(height, errors.New("null"))
	}
	return n.readHeader(r)
}

// fault is an error of a question that every node answers.
func fault(err error) error {
	var e *rpcError
	if errors.As(err, &e) {
		return refused(e)
	}
	return err
}

// hexNumber writes a height as nodes want it.
func hexNumber(height int64) string { return fmt.Sprintf("0x%x", height) }
