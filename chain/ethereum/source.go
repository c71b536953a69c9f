// Package ethereum reads Ethereum, and networks like it, from nodes that speak its
// JSON-RPC: see Config. It finds ether that transactions send, and USDT by the logs
// of its contract, in blocks with the receipts of all their transactions.
//
// Only what a receipt proves counts: a transaction that failed moved nothing, and
// of a token that counts which its contract wrote down, never what the calldata
// says.
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
	// ?stream=ws(s)://host:port behind it names a websocket that tells of new blocks;
	// &trace=blocks has every block's inner transfers read (debug_traceBlockByHash, or trace_block);
	// &pending=off doesn't ask for what is pending.
	Nodes []string
	Clock clock.Clock
	Log   *slog.Logger // told when a node becomes unusable or usable again; nil means nobody is
}

// Source is a network as one or several nodes show it. One node is asked at a
// time, the same from a Tip to the next; the others check it: their tips must lead to
// the same chain, and what a block holds a second one must confirm. Nodes that are down,
// on another network, syncing, hanging or behind are left out; while two that are
// well are on different branches, none is believed.
//
// Its answers keep the rules of chain.Source. Pending transactions are shown as
// far as the node shows them, and only ether: see pending.
type Source struct {
	*node.Push
	params  params.Params
	nodes   *node.Branching
	servers []*server // of the nodes, in their order
	current node.Asked[*server]
	pending pendingCache
	// confirmTimeout is how long a block waits for a second node to have it.
	confirmTimeout time.Duration
}

var _ chain.Source = (*Source)(nil)

// New makes a source. It connects to nothing. Its errors say which URL is wrong,
// by its place and without any of its text.
func New(c Config) (*Source, error) {
	endpoints, err := parseEndpoints(c.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Params.Network(), err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	common := node.Config{Kind: "node", Network: c.Params.Network(), Clock: c.Clock, Log: c.Log}
	s := &Source{Push: node.NewPush(common), params: c.Params, nodes: node.NewBranching(common), confirmTimeout: defaultConfirmTimeout}
	s.current.Choose = s.chooseServer
	for i := range endpoints {
		e := endpoints[i]
		client := node.NewClient(e.base, nil)
		n := &server{rpc: &rpc{Client: client, header: e.header, clock: c.Clock}, endpoint: e, params: c.Params, headers: map[hash]chain.Header{}}
		n.Node = s.nodes.Join(e.host, n, n.fetchParent)
		s.servers = append(s.servers, n)
		if e.stream != "" {
			s.Add(node.Listener{Host: e.host, Kind: "websocket", Listen: func(ctx context.Context, up func()) error { return subscribeHeads(ctx, e, client, up, s.Wake) }})
		}
	}
	return s, nil
}

// Network is the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Tip implements chain.Source. The node that it reads answers all other questions
// until the next Tip.
func (s *Source) Tip(ctx context.Context) (chain.Tip, error) {
	_, header, err := s.current.Tip(ctx)
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
	return header, n.Blame(ctx, err)
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
		// Anybody can fill a block with calls whose trace has no end, and must not stop the
		// network so. What contracts sent on in it is found by what addresses hold.
		traced = false
		block, err = n.fetchBlock(ctx, height, watch, traced)
	}
	if err != nil {
		return chain.Block{}, n.Blame(ctx, err)
	}
	if err := s.confirmBlock(ctx, n, block, watch, traced); err != nil {
		return chain.Block{}, err
	}
	s.pending.removeMined(block)
	return block, nil
}

// serverForHeight is the node to ask about a height.
func (s *Source) serverForHeight(ctx context.Context, height int64) (*server, error) {
	n, tip, err := s.current.Now(ctx)
	if err == nil && (height < 0 || height > tip.Height) {
		err = errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	return n, err
}

// Nodes looks at every node now and tells how each does, in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	all := s.nodes.Nodes(ctx)
	for i, n := range s.servers {
		all[i].Note = n.collectNotes()
	}
	return all
}

// Notes are what people should know of the network, and of its token, although both
// can be used: sentences, or "".
func (s *Source) Notes(ctx context.Context) (network, token string, err error) {
	n, _, err := s.current.Now(ctx)
	if err != nil {
		return "", "", err
	}
	network = joinSentences(s.finalityNote(), s.balanceDisputeNote())
	n.mu.Lock()
	defer n.mu.Unlock()
	return network, n.token.describeState(), nil
}

// chooseServer finds the node to ask.
func (s *Source) chooseServer(ctx context.Context) (*server, chain.Header, error) {
	n, tip, err := s.nodes.Choose(ctx)
	if err != nil {
		return nil, tip, err
	}
	return s.servers[n.Number-1], tip, nil
}
