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
	"log/slog"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
	"cointill/core/clock"
)

// Config says which network is read and from which nodes.
type Config struct {
	Params params.Params
	// Nodes are the URLs of the nodes, the preferred one first:
	//
	//	http(s)://user:password@host:port/path
	//
	// The query ?stream=ws(s)://host:port names a websocket that announces new blocks;
	// &trace=blocks reads the internal transfers of every block (debug_traceBlockByHash, or
	// trace_block); &pending=off does not ask for pending transactions.
	Nodes []string
	Clock clock.Clock
	Log   *slog.Logger // reports nodes that become unusable or usable again; nil means no log
	// Memory is for long answers; nil has no bound.
	Memory node.Memory
}

// Source reads a network from one or several nodes. One node is used at a time, from one call of
// Tip to the next. The other nodes check it: their tips must be on the same chain, and a second
// node must confirm the content of each block. Nodes that are down, on another network, syncing,
// stalled or behind are left out. While two healthy nodes are on different branches, no node is
// trusted.
//
// Source keeps the rules of chain.Source. It shows pending transfers of ether as far as the node
// shows them: see Pending.
type Source struct {
	*node.PushConnections
	params  params.Params
	nodes   *node.ForkPool
	servers []*server // in the configured order
	current node.CurrentNode[*server]
	pending pendingCache
	// confirmTimeout is how long a block waits until a second node has it.
	confirmTimeout time.Duration
}

var _ chain.Source = (*Source)(nil)

// New makes a source without connecting to any node. Its errors name a wrong URL by its position
// and contain no part of its text.
func New(c Config) (*Source, error) {
	endpoints, err := parseEndpoints(c.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Params.Network(), err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	common := node.Config{Kind: "node", Network: c.Params.Network(), Clock: c.Clock, Log: c.Log}
	s := &Source{PushConnections: node.NewPushConnections(common), params: c.Params, nodes: node.NewForkPool(common),
		confirmTimeout: defaultConfirmTimeout}
	s.current.ChooseNode = s.chooseServer
	for i := range endpoints {
		e := endpoints[i]
		client := node.NewClient(e.base, nil, c.Memory)
		n := &server{rpc: &rpc{Client: client, header: e.header, clock: c.Clock}, endpoint: e, params: c.Params,
			headers: map[hash]chain.Header{}}
		n.Node = s.nodes.AddMember(e.host, n, n.fetchParent)
		s.servers = append(s.servers, n)
		if e.stream != "" {
			s.AddListener(node.Listener{Host: e.host, Kind: "websocket",
				Listen: func(ctx context.Context, up func()) error {
					return subscribeHeads(ctx, e, client, up, s.Wake)
				}})
		}
	}
	return s, nil
}

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Tip implements chain.Source. The node that Tip chooses answers all other calls until the next
// Tip.
func (s *Source) Tip(ctx context.Context) (chain.Tip, error) {
	_, header, err := s.current.ChooseAgain(ctx)
	if err != nil {
		return chain.Tip{}, err
	}
	return chain.Tip{Header: header, Finalized: min(s.finalizedHeight(), header.Height)}, nil
}

// Header implements chain.Source.
func (s *Source) Header(ctx context.Context, height int64) (chain.Header, error) {
	n, err := s.serverForHeight(ctx, height)
	if err != nil {
		return chain.Header{}, err
	}
	header, err := n.fetchHeader(ctx, height)
	return header, n.DemoteOnError(ctx, err)
}

// Block implements chain.Source.
func (s *Source) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	n, err := s.serverForHeight(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
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
	if err := s.confirmBlock(ctx, n, block, watch, traced); err != nil {
		return chain.Block{}, err
	}
	s.pending.removeMined(block)
	return block, nil
}

// serverForHeight returns the current node, or chain.ErrNoBlock if the height is above its tip.
func (s *Source) serverForHeight(ctx context.Context, height int64) (*server, error) {
	n, tip, err := s.current.GetOrChoose(ctx)
	if err == nil && (height < 0 || height > tip.Height) {
		err = errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	return n, err
}

// Nodes checks every node now and returns their status in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	all := s.nodes.CheckNodes(ctx)
	for i, n := range s.servers {
		all[i].Note = n.collectNotes()
	}
	return all
}

// Notes returns warnings about the network and about its token, although both can be used. Each is
// one or more sentences, or "".
func (s *Source) Notes(ctx context.Context) (network, token string, err error) {
	n, _, err := s.current.GetOrChoose(ctx)
	if err != nil {
		return "", "", err
	}
	network = joinSentences(s.finalityNote(), s.balanceDisputeNote())
	n.mu.Lock()
	defer n.mu.Unlock()
	return network, n.token.describeState(), nil
}

// chooseServer chooses the node to use.
func (s *Source) chooseServer(ctx context.Context) (*server, chain.Header, error) {
	n, tip, err := s.nodes.ChooseNode(ctx)
	if err != nil {
		return nil, tip, err
	}
	return s.servers[n.Number-1], tip, nil
}
