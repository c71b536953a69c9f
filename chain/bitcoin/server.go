package bitcoin

import (
	"context"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/core/clock"
)

// maxClockSkew is how far in the future a block's time may be, as nodes allow it.
const maxClockSkew = 2 * time.Hour

// nodeNetworkNames are the names that nodes use for a network, if they differ from ours.
var nodeNetworkNames = map[string][]string{"mainnet": {"main"}, "testnet": {"test"}}

// server is one node of a network with its cached data.
type server struct {
	*quorum.Node
	backend
	params  params.Params
	clock   clock.Clock
	headers quorum.Cache[string, knownHeader] // by hash
}

// knownHeader is a cached header, with the bits that give the difficulty of its block.
type knownHeader struct {
	chain.Header
	bits uint32
}

// Handshake implements quorum.Adapter.
func (n *server) Handshake(ctx context.Context) (v quorum.View, err error) {
	before := n.LastView()
	v.Dialect, v.Version = before.Dialect, before.Version
	identified := n.IsIdentified()
	if !identified {
		if v.Dialect, v.Version, err = n.identifyServer(ctx); err != nil {
			return v, err
		}
	}
	s, err := n.readState(ctx)
	if err != nil {
		return v, err
	}
	if err := n.checkNetwork(s); err != nil {
		return v, err
	}
	if !identified {
		if err := n.checkGenesis(ctx); err != nil {
			return v, err
		}
		n.SetIdentified()
	}
	if err := n.checkCaughtUp(s); err != nil {
		return v, err
	}
	if v.Tip, err = n.readHeader(ctx, s.height, s.hash); err != nil {
		return v, err
	}
	return v, n.checkTipAge(v.Tip)
}

func (n *server) checkNetwork(s serverState) error {
	want := n.params.Name
	if s.network == "" || s.network == want {
		return nil
	}
	for _, name := range nodeNetworkNames[want] {
		if s.network == name {
			return nil
		}
	}
	return node.NewFailure(fmt.Errorf("it follows %q", s.network),
		"follows another network than %s. Check which node its URL leads to, and which network is configured.",
		n.params.Network())
}

// checkGenesis compares the first block with the network's, if that is known.
func (n *server) checkGenesis(ctx context.Context) error {
	if n.params.Private || n.params.GenesisHash == nil {
		return nil
	}
	hash, err := n.fetchBlockHash(ctx, 0)
	if err != nil {
		return err
	}
	if hash != n.params.GenesisHash.String() {
		return node.NewFailure(fmt.Errorf("its first block is %s", hash),
			"follows another chain than %s: its first block is another. Check which node its URL leads to.",
			n.params.Network())
	}
	return nil
}

// checkCaughtUp checks that the node has the blocks of the headers that it knows. A node of a
// private network reports that it is syncing while its tip is old, for any reason.
func (n *server) checkCaughtUp(s serverState) error {
	if s.syncing && !n.params.Private || s.headers-s.height > 1 {
		return node.NewFailure(nil, "is still downloading the chain: it has block %d of %d. Wait until it has "+
			"caught up.", s.height, s.headers)
	}
	return nil
}

// checkTipAge checks that the last block's time is near the current time.
func (n *server) checkTipAge(tip chain.Header) error {
	return node.CheckTipAge(tip, n.clock(), n.params.Stale, maxClockSkew, "hangs: its last block, %d, is %s old. "+
		"Check its connections to other nodes, and this machine's clock.")
}

// ReadParent implements quorum.ForkAdapter.
func (n *server) ReadParent(ctx context.Context, h chain.Header) (chain.Header, error) {
	return n.readHeader(ctx, h.Height-1, h.Parent)
}

// readHeader reads the header with a hash, and verifies the hash.
func (n *server) readHeader(ctx context.Context, height int64, hash string) (chain.Header, error) {
	h, err := n.readKnownHeader(ctx, height, hash)
	return h.Header, err
}

// readKnownHeader is readHeader with the bits. A cached header isn't asked for again.
func (n *server) readKnownHeader(ctx context.Context, height int64, hash string) (knownHeader, error) {
	h, ok := n.headers.Find(hash)
	if ok && h.Height == height {
		return h, ctx.Err()
	}
	raw, err := n.fetchHeader(ctx, hash)
	if err != nil {
		return knownHeader{}, err
	}
	got, parent, at, _, err := ParseHeader(raw, n.params)
	if err == nil && got != hash {
		err = fmt.Errorf("header %s came for %s", got, hash)
	}
	if err != nil {
		return knownHeader{}, node.DamagedDataError("a header", err)
	}
	h = knownHeader{chain.Header{BlockID: chain.BlockID{Height: height, Hash: hash}, Parent: parent, Time: at},
		header(raw).bits()}
	n.headers.Keep(hash, h)
	return h, nil
}

// readBlockAt reads the block at a height and verifies that it has the hash that the node itself
// reports there.
func (n *server) readBlockAt(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	block, _, err := n.readRawBlock(ctx, height, watch)
	return block, err
}

// readRawBlock is readBlockAt with the block's bytes.
func (n *server) readRawBlock(ctx context.Context, height int64, watch chain.Watch) (block chain.Block, raw []byte,
	err error) {
	hash, err := n.fetchBlockHash(ctx, height)
	if err != nil {
		return chain.Block{}, nil, err
	}
	if raw, err = n.fetchBlock(ctx, hash); err != nil {
		return chain.Block{}, nil, err
	}
	block, err = ParseBlock(raw, n.params, height, watch)
	if err == nil && block.Hash != hash {
		err = fmt.Errorf("block %s came for %s", block.Hash, hash)
	}
	if err != nil {
		return chain.Block{}, nil, node.DamagedDataError("a block", err)
	}
	if !n.params.Retarget.Limits(height) {
		return block, raw, nil
	}
	h := knownHeader{block.Header, header(raw).bits()}
	n.headers.Keep(hash, h) // for the next block
	parent, err := n.readKnownHeader(ctx, height-1, block.Parent)
	if err != nil {
		return chain.Block{}, nil, err
	}
	if err := n.params.Retarget.CheckTarget(height, parent.bits, h.bits); err != nil {
		return chain.Block{}, nil, node.DamagedDataError("a block", fmt.Errorf("block %s: %w", hash, err))
	}
	return block, raw, nil
}
