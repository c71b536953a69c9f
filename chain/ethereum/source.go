// Package ethereum reads Ethereum and compatible networks from nodes that speak its JSON-RPC: see
// Config. It finds transfers of ether in transactions, and transfers of USDT in the logs of its
// contract, in blocks with the receipts of all their transactions.
//
// Only the receipt counts. A failed transaction moved nothing, and a token transfer counts by the
// log that the contract emitted, never by the calldata.
package ethereum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// Source reads a network from one or several nodes. A view asks one of them. The other nodes check
// it: their tips must be on the same chain, and a second node must confirm the content of each
// block. Nodes that are down, on another network, syncing, stalled or behind are left out. While two
// healthy nodes are on different branches, no node is trusted.
//
// Source keeps the rules of chain.Source. It shows pending transfers of ether as far as the node
// shows them: see Pending.
type Source struct {
	*node.PushConnections
	params  params.Params
	nodes   *quorum.Pool[*server]
	pending pendingCache
	// confirmTimeout is how long a block waits until a second node has it.
	confirmTimeout time.Duration
}

var _ chain.Source = (*Source)(nil)

// New makes a source of the nodes at URLs, the preferred one first:
//
//	http(s)://user:password@host:port/path
//
// The query ?stream=ws(s)://host:port names a websocket that announces new blocks;
// &trace=blocks reads the internal transfers of every block (debug_traceBlockByHash, or
// trace_block); &pending=off does not ask for pending transactions; &idle=logs reads only the logs of tokens
// while nothing is awaited, where the network's own coin pays nothing.
//
// New connects to no node. Its errors name a wrong URL by its position and contain no part of its text.
func New(p params.Params, urls []string, a node.Access) (*Source, error) {
	endpoints, err := node.ParseURLs("node", urls, parseEndpoint, func(e endpoint) string { return e.base })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Network(), err)
	}
	common := node.NewConfig("node", p.Network(), a)
	s := &Source{PushConnections: node.NewPushConnections(common), params: p,
		nodes: quorum.NewForkPool[*server](common), confirmTimeout: quorum.PollTimeout}
	for i := range endpoints {
		e := endpoints[i]
		if e.idleLogs && p.Native == money.ETH {
			return nil, fmt.Errorf("%s: idle=logs in the URL of node %d is for networks whose own coin pays nothing: "+
				"ether leaves no log", p.Network(), i+1)
		}
		client := a.NewClient(e.base, nil)
		n := &server{Client: rpc.NewClient(client, e.header, a.Clock), clock: a.Clock, endpoint: e, params: p}
		n.Node = s.nodes.AddNode(e.host, client.Calls, n)
		if e.stream != "" {
			s.AddListener(node.Listener{Host: e.host, Kind: "websocket",
				Listen: func(ctx context.Context, up func()) error {
					return rpc.SubscribeHeads(ctx, client, e.stream, e.streamHeader, up, s.Wake)
				}})
		}
	}
	return s, nil
}

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// At implements chain.Source.
func (s *Source) At(ctx context.Context) (chain.View, error) {
	n, tip, err := s.nodes.Choose(ctx)
	if err != nil {
		return chain.View{}, err
	}
	return chain.View{Tip: chain.Tip{Header: tip, Finalized: min(s.finalizedHeight(), tip.Height)},
		NoMempool: n.showsNoPending(), Reader: &view{s, n, tip.Height}}, nil
}

// view reads the network from one node. Its tip is the end of the chain when the node was chosen.
type view struct {
	*Source
	node *server
	tip  int64
}

// checkHeight returns chain.ErrNoBlock for a height above the view's tip.
func (v *view) checkHeight(ctx context.Context, height int64) error {
	if height < 0 || height > v.tip {
		return errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	return nil
}

// Header implements chain.Reader.
func (v *view) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := v.checkHeight(ctx, height); err != nil {
		return chain.Header{}, err
	}
	header, err := v.node.fetchHeader(ctx, height)
	return header, v.node.DemoteOnError(ctx, err)
}

// Block implements chain.Reader.
func (v *view) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := v.checkHeight(ctx, height); err != nil {
		return chain.Block{}, err
	}
	n := v.node
	traced := n.endpoint.traceBlocks
	block, err := n.fetchBlock(ctx, height, watch, traced)
	if traced && errors.Is(err, node.ErrTooLong) {
		// Any sender can fill a block with calls until its trace is too long, and this must not
		// stop the network. Internal transfers in this block are found by balances instead.
		traced = false
		block, err = n.fetchBlock(ctx, height, watch, traced)
	}
	if err != nil {
		return chain.Block{}, n.DemoteOnError(ctx, err)
	}
	if err := v.confirmBlock(ctx, n, block, watch, traced); err != nil {
		return chain.Block{}, err
	}
	v.pending.removeMined(block)
	return block, nil
}

// currentView returns the view of the current node, or chain.ErrNoBlock if the height is above its tip.
func (s *Source) currentView(ctx context.Context, height int64) (*view, error) {
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{s, n, tip.Height}
	return v, v.checkHeight(ctx, height)
}

// Nodes checks every node now and returns their status in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	all := s.nodes.CheckNodes(ctx)
	for i, n := range s.nodes.Members {
		all[i].Note = n.collectNotes()
	}
	return all
}

// Notes returns warnings about the network and about its token, although both can be used. Each is
// one or more sentences, or "".
func (s *Source) Notes(ctx context.Context) (network, token string, err error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return "", "", err
	}
	network = joinSentences(s.finalityNote(), s.balanceDisputeNote())
	n.mu.Lock()
	defer n.mu.Unlock()
	return network, n.token.describeState(), nil
}
