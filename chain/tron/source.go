// Package tron reads Tron from full nodes and providers that serve java-tron's HTTP API: see New. It finds
// transfers of USDT (TRC-20) in the logs of its contract, in blocks with the results of all their transactions.
//
// A block's id is the hash of its header and begins with its number, and a transaction's id is the hash of its raw
// data: both are checked. Results are proved by nothing, so a second node must confirm them where there is one. A
// failed transaction moves nothing. Solidified blocks are final.
package tron

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/chain/tron/params"
)

// Source reads a network from one or several nodes. A view asks one of them. The other nodes check it: their tips
// must be on the same chain, and a second node must confirm the content of each block. Nodes that are down, on
// another network, stalled or behind are left out. While two healthy nodes are on different branches, no node is
// trusted.
//
// Source keeps the rules of chain.Source. Nothing is pending, because nodes don't show transactions before a block
// holds them.
type Source struct {
	*node.PushConnections
	params params.Params
	nodes  *quorum.Pool[*server]
	cache  blockCache
	// confirmTimeout is how long a block waits until a second node has it.
	confirmTimeout time.Duration
}

var _ chain.Source = (*Source)(nil)

// New makes a source of the nodes at URLs, the preferred one first:
//
//	http(s)://key@host:port/path
//
// A user without a password is the key of a provider (the header TRON-PRO-API-KEY); user:password is for
// front servers that ask for them. The query ?solidity=http://host:8091 says where the node serves
// /walletsolidity/…, if that isn't the same place.
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
	for _, e := range endpoints {
		full := a.NewClient(e.base, nil)
		solidity := full
		if e.solidity != "" {
			solidity = a.NewClient(e.solidity, nil)
			solidity.Calls = full.Calls
		}
		n := &server{client: &client{full: full, solidity: solidity, header: e.header, pause: node.NewPause(a.Clock)},
			params: p, clock: a.Clock}
		n.Node = s.nodes.AddNode(e.host, full.Calls, n)
	}
	return s, nil
}

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Nodes checks every node now and returns their status in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	all := s.nodes.CheckNodes(ctx)
	for i, n := range s.nodes.Members {
		if err := n.ConfirmFailure(); err != nil {
			all[i].Note = "Blocks are counted without its confirmation: " + n.ProblemSentence(err)
		}
	}
	return all
}

// At implements chain.Source.
func (s *Source) At(ctx context.Context) (chain.View, error) {
	n, tip, err := s.nodes.Choose(ctx)
	if err != nil {
		return chain.View{}, err
	}
	return chain.View{Tip: chain.Tip{Header: tip, Finalized: min(s.solidHeight(), tip.Height)}, NoMempool: true,
		Reader: &view{s, n, tip}}, nil
}

// solidHeight returns the lowest height that a healthy node reports as solidified, so that no single node can make a
// block final.
func (s *Source) solidHeight() (height int64) {
	for i, n := range s.nodes.HealthyOthers(nil) {
		n.mu.Lock()
		if i == 0 || n.solidity < height {
			height = n.solidity
		}
		n.mu.Unlock()
	}
	return height
}

// view reads the network from one node. Its tip is the end of the chain when the node was chosen.
type view struct {
	*Source
	node *server
	tip  chain.Header
}

// checkHeight returns chain.ErrNoBlock for a height above the view's tip.
func (v *view) checkHeight(ctx context.Context, height int64) error {
	if height < 0 || height > v.tip.Height {
		return errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	return ctx.Err()
}

// Header implements chain.Reader.
func (v *view) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := v.checkHeight(ctx, height); err != nil {
		return chain.Header{}, err
	}
	header, err := v.node.fetchHeader(ctx, height)
	return header, v.node.DemoteOnError(ctx, err)
}

// Block implements chain.Reader. Blocks that were read a moment ago are not read again: a provider that refuses one
// of a hundred requests would let no batch of blocks be read otherwise.
func (v *view) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := v.checkHeight(ctx, height); err != nil {
		return chain.Block{}, err
	}
	if known := v.cache.findBlock(height, v.tip.BlockID); known != nil {
		return known.keepWatched(watch), nil
	}
	block, err := v.node.fetchBlock(ctx, height)
	if err != nil {
		return chain.Block{}, v.node.DemoteOnError(ctx, err)
	}
	if err := v.confirmBlock(ctx, v.node, block); err != nil {
		return chain.Block{}, err
	}
	v.cache.keepBlock(block)
	return block.keepWatched(watch), nil
}

// Pending implements chain.Reader. It returns nothing: see Source.
func (v *view) Pending(ctx context.Context, _ chain.Watch) (chain.Pending, error) {
	return chain.Pending{}, ctx.Err()
}
