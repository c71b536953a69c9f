// Package bitcoin reads Bitcoin and Dogecoin, and networks like them, from nodes that speak the
// JSON-RPC of Bitcoin Core or btcd, and from Esplora servers; see New. Blocks and transactions
// are fetched as bytes. ParseBlock and ParseTx parse them and verify everything that bytes can
// prove. No amount is ever read from JSON.
package bitcoin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/core/clock"
)

// Source is a bitcoin-like network, read from one or several nodes. A view asks one of them; the
// others check it. Nodes that are down, on another network, syncing, silent or lagging are left out.
// While two healthy nodes are on different branches that differ in more than the last block, none is
// used.
//
// Its answers follow the rules of chain.Source: a node's data is verified as far as bytes can be,
// and pushed data is never trusted.
type Source struct {
	*node.PushConnections
	params  params.Params
	clock   clock.Clock
	nodes   *quorum.Pool[*server]
	mempool mempoolReader
	timing  mempoolTiming

	mu        sync.Mutex
	lastWatch chain.Watch // of the last reading of the mempool
}

// mempoolTiming holds the time limits for readings of the mempool; tests use shorter ones.
type mempoolTiming struct {
	maxFillTime  time.Duration // duration of one Pending
	quickListing time.Duration // a listing of the mempool that takes less needs no rest
	holdTime     time.Duration // how long new transactions are held against additions to the watch
}

var defaultTiming = mempoolTiming{maxFillTime: 10 * time.Second, quickListing: 25 * time.Millisecond,
	holdTime: time.Minute}

var _ chain.Source = (*Source)(nil)

// New makes a source of the nodes at URLs, the preferred one first:
//
//	http(s)://user:password@host:port     JSON-RPC of Bitcoin Core, Dogecoin Core or btcd
//	http(s)://host:port?cookie=/a/.cookie the same, signed with the node's cookie file
//	btcd+ws(s)://user:password@host:port  btcd, with its notifications over a websocket
//	esplora+http(s)://host/api            an Esplora server
//
// ?zmq=tcp://host:port adds a ZeroMQ publisher of the node (hashtx, rawtx, hashblock or
// rawblock), and may be repeated. ?cert=/a/rpc.cert names the certificate file of a node with a
// self-signed certificate.
//
// New reads the certificate files, but connects to no node. Its errors give the position of the wrong
// URL and none of its text.
func New(p params.Params, urls []string, a node.Access) (*Source, error) {
	endpoints, err := node.ParseURLs("node", urls, parseEndpoint, func(e endpoint) string { return e.base })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Network(), err)
	}
	common := node.NewConfig("node", p.Network(), a)
	s := &Source{PushConnections: node.NewPushConnections(common), params: p, clock: a.Clock,
		nodes: quorum.NewForkPool[*server](common), mempool: mempoolReader{maxNewBytes: newBytesLimit},
		timing: defaultTiming}
	for i := range endpoints {
		e := &endpoints[i]
		http, err := newClient(e, a)
		if err != nil {
			return nil, fmt.Errorf("%s: node %d of %d: %w", p.Network(), i+1, len(endpoints), err)
		}
		var asking backend = &core{rpc: &rpc{client: http}, params: p}
		if e.esplora {
			asking = &esplora{http}
		}
		n := &server{backend: asking, params: p, clock: a.Clock}
		n.Node = s.nodes.AddNode(e.host, http.Calls, n)
		s.addListeners(e, http)
	}
	return s, nil
}

// Nodes checks every node now and returns their statuses in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus { return s.nodes.CheckNodes(ctx) }

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// At implements chain.Source.
func (s *Source) At(ctx context.Context) (chain.View, error) {
	n, tip, err := s.nodes.Choose(ctx)
	if err != nil {
		return chain.View{}, err
	}
	return chain.View{Tip: chain.Tip{Header: tip, Finalized: -1}, Reader: &view{s, n, tip.Hash}}, nil
}

// view reads the network from one node. Its tip is the end of the chain when the node was chosen.
type view struct {
	*Source
	node *server
	tip  string
}

// Header implements chain.Reader.
func (v *view) Header(ctx context.Context, height int64) (chain.Header, error) {
	hash, err := v.node.fetchBlockHash(ctx, height)
	if err != nil {
		return chain.Header{}, v.node.DemoteOnError(ctx, err)
	}
	header, err := v.node.readHeader(ctx, height, hash)
	return header, v.node.DemoteOnError(ctx, err)
}

// Block implements chain.Reader.
func (v *view) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	block, err := v.node.readBlockAt(ctx, height, watch)
	return block, v.node.DemoteOnError(ctx, err)
}

// Pending implements chain.Reader. See mempoolReader for its guarantees.
func (v *view) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	v.mu.Lock()
	v.lastWatch = watch
	v.mu.Unlock()
	pending, err := v.mempool.readPending(ctx, reading{v, watch})
	return pending, v.node.DemoteOnError(ctx, err)
}
