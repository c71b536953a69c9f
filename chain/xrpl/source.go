// Package xrpl reads the XRP Ledger from servers that speak the API of rippled or Clio, in version
// 1 or 2, over JSON-RPC or a websocket: see Config. It reads validated ledgers one by one. Hashes
// prove the headers of ledgers, but transactions are JSON that a server could forge, so a second
// server must confirm every ledger.
//
// Only the amount that a payment delivered counts, and only if the destination's balance rose by
// exactly that amount: see findTransfers.
package xrpl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/params"
	"cointill/core/clock"
)

// Config says which network is read and from which servers.
type Config struct {
	Params params.Params
	// Nodes are the URLs of the servers, the preferred one first:
	//
	//	http(s)://user:password@host:port   JSON-RPC
	//	ws(s)://user:password@host:port     a websocket, which also announces new ledgers
	//
	// The query ?stream=ws://host:port of the first form names a websocket that announces new
	// ledgers.
	Nodes []string
	Clock clock.Clock
	// Log reports servers that become unusable or usable again, and value that credits nothing. Nil means
	// no log.
	Log *slog.Logger
	// Memory is for long answers; nil has no bound.
	Memory node.Memory
}

// Source reads a network from one or several servers. One server is used at a time, from one call
// of Tip to the next; another one is used if it lacks a ledger or fails. The other servers check
// it. Servers that are down, on another network, lagging, amendment blocked or not in sync are
// left out. While two healthy servers contradict each other, none is trusted.
//
// Source keeps the rules of chain.Source. Validated ledgers are final, so Tip reports every ledger
// as finalized and nothing is pending.
type Source struct {
	*node.PushConnections
	params  params.Params
	nodes   *node.Pool
	servers []*server // in the configured order
	current node.CurrentNode[*server]
}

var _ chain.Source = (*Source)(nil)

// New makes a source without connecting to any server. Its errors name a wrong URL by its position
// and contain no part of its text.
func New(c Config) (*Source, error) {
	endpoints, err := parseEndpoints(c.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Params.Network(), err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	common := node.Config{Kind: "server", Network: c.Params.Network(), Clock: c.Clock, Log: c.Log}
	s := &Source{PushConnections: node.NewPushConnections(common), params: c.Params, nodes: node.NewPool(common)}
	s.nodes.Timing.HealthyAge = 0 // each tip is a ledger that two servers have now
	s.current.ChooseNode = s.chooseServer
	for i := range endpoints {
		e := &endpoints[i]
		client := node.NewClient(e.base, nil, c.Memory)
		var asking transport = &httpTransport{client, e.header}
		if e.useWebSocket {
			asking = &socketTransport{client: client, url: e.base, header: e.header, slot: make(chan struct{}, 1)}
		}
		n := &server{rpc: &rpc{transport: asking}, params: c.Params, clock: c.Clock, log: c.Log,
			headers: map[int64]chain.Header{}}
		n.Node = s.nodes.AddNode(e.host, n)
		s.servers = append(s.servers, n)
		if e.stream != "" {
			s.AddListener(node.Listener{Host: e.host, Kind: "websocket",
				Listen: func(ctx context.Context, up func()) error {
					return subscribeLedgers(ctx, e, client, up, s.Wake)
				}})
		}
	}
	return s, nil
}

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Tip implements chain.Source. The server that Tip chooses answers all other calls until the next
// Tip.
func (s *Source) Tip(ctx context.Context) (chain.Tip, error) {
	_, header, err := s.current.ChooseAgain(ctx)
	if err != nil {
		return chain.Tip{}, err
	}
	return chain.Tip{Header: header, Finalized: header.Height}, nil
}

// Header implements chain.Source.
func (s *Source) Header(ctx context.Context, height int64) (header chain.Header, err error) {
	err = s.tryServers(ctx, height, func(n *server) error {
		header, err = n.fetchHeader(ctx, height)
		return err
	})
	return header, err
}

// Block implements chain.Source. It returns no spends, because pending transactions are not shown
// and none of them can be replaced.
func (s *Source) Block(ctx context.Context, height int64, watch chain.Watch) (block chain.Block, err error) {
	err = s.tryServers(ctx, height, func(n *server) error {
		if block, err = n.fetchBlock(ctx, height, watch); err != nil {
			return err
		}
		block, err = s.confirmBlock(ctx, n, block, watch)
		return err
	})
	if err != nil {
		return chain.Block{}, err
	}
	return block, nil
}

// Pending implements chain.Source. It returns nothing, because only validated ledgers are read.
func (s *Source) Pending(ctx context.Context, _ chain.Watch) (chain.Pending, error) {
	return chain.Pending{}, ctx.Err()
}

// tryServers calls ask for one server after the other until one succeeds. The current server comes
// first; servers that reported to lack the ledger come last.
func (s *Source) tryServers(ctx context.Context, height int64, ask func(*server) error) error {
	current, tip, err := s.current.GetOrChoose(ctx)
	if err != nil {
		return err
	}
	if height < 1 || height > tip.Height {
		return errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	var failed error
	for _, n := range s.orderServers(current, height) {
		err := ask(n)
		switch {
		case err == nil:
			return nil
		case errors.Is(ctx.Err(), context.Canceled):
			return ctx.Err()
		case errors.Is(err, errNoLedger):
			continue
		}
		var told chain.Problem
		if err = n.DemoteOnError(ctx, err); errors.As(err, &told) && failed == nil {
			failed = err
		}
		if isConfirmationError(err) || ctx.Err() != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return chain.Problem(fmt.Sprintf("No server has ledger %d any more, or yet, which must be read before the newer "+
		"ones. Nothing is lost, and nothing is counted until one has it: use a server with a longer history "+
		"(ledger_history, or a public one with all ledgers).", height))
}

// orderServers returns the servers in the order in which they are asked for a ledger.
func (s *Source) orderServers(current *server, height int64) []*server {
	all, without := []*server{}, []*server{}
	for _, n := range append([]*server{current}, s.servers...) {
		switch {
		case n != current && !n.LastView().Healthy() || len(all)+len(without) > 0 && n == current:
		case n.hasLedger(height):
			all = append(all, n)
		default:
			without = append(without, n)
		}
	}
	return append(all, without...)
}
