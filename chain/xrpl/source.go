// Package xrpl reads the XRP Ledger from servers that speak the API of rippled or Clio, in version
// 1 or 2, over JSON-RPC or a websocket: see New. It reads validated ledgers one by one. Hashes
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

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/chain/xrpl/params"
)

// Source reads a network from one or several servers. A view asks one of them, and another one if
// that one lacks a ledger or fails. The other servers check it. Servers that are down, on another
// network, lagging, amendment blocked or not in sync are left out. While two healthy servers
// contradict each other, none is trusted.
//
// Source keeps the rules of chain.Source. Validated ledgers are final, so every ledger of a view is
// finalized and nothing is pending.
type Source struct {
	*node.PushConnections
	params params.Params
	nodes  *quorum.Pool[*server]
}

var _ chain.Source = (*Source)(nil)

// New makes a source of the servers at URLs, the preferred one first:
//
//	http(s)://user:password@host:port   JSON-RPC
//	ws(s)://user:password@host:port     a websocket, which also announces new ledgers
//
// The query ?stream=ws://host:port of the first form names a websocket that announces new
// ledgers. The log also reports value that credits nothing.
//
// New connects to no server. Its errors name a wrong URL by its position and contain no part of its text.
func New(p params.Params, urls []string, a node.Access) (*Source, error) {
	endpoints, err := node.ParseURLs("server", urls, parseEndpoint, func(e endpoint) string { return e.base })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Network(), err)
	}
	common := node.NewConfig("server", p.Network(), a)
	s := &Source{PushConnections: node.NewPushConnections(common), params: p,
		nodes: quorum.NewLedgerPool[*server](common)}
	for i := range endpoints {
		e := &endpoints[i]
		client := a.NewClient(e.base, nil)
		var asking transport = &httpTransport{client, e.header}
		if e.useWebSocket {
			asking = &socketTransport{client: client, url: e.base, header: e.header, slot: make(chan struct{}, 1)}
		}
		n := &server{rpc: &rpc{transport: asking}, params: p, clock: a.Clock, log: common.Log}
		n.Node = s.nodes.AddNode(e.host, client.Calls, n)
		if e.stream != "" {
			s.AddListener(node.Listener{Host: e.host, Kind: "websocket",
				Listen: func(ctx context.Context, up func()) error {
					return subscribeLedgers(ctx, e, client, up, s.Wake)
				}})
		}
	}
	return s, nil
}

// Nodes checks every server now and returns their statuses in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus { return s.nodes.CheckNodes(ctx) }

// Network returns the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// At implements chain.Source.
func (s *Source) At(ctx context.Context) (chain.View, error) {
	n, tip, err := s.nodes.Choose(ctx)
	if err != nil {
		return chain.View{}, err
	}
	return chain.View{Tip: chain.Tip{Header: tip, Finalized: tip.Height}, NoMempool: true,
		Reader: &view{s, n, tip.Height}}, nil
}

// view reads the network from one server, up to a tip. Another server is asked if that one lacks a
// ledger or fails.
type view struct {
	*Source
	server *server
	tip    int64
}

// Header implements chain.Reader.
func (v *view) Header(ctx context.Context, height int64) (header chain.Header, err error) {
	err = v.tryServers(ctx, height, func(n *server) error {
		header, err = n.fetchHeader(ctx, height)
		return err
	})
	return header, err
}

// Block implements chain.Reader. It returns no spends, because pending transactions are not shown
// and none of them can be replaced.
func (v *view) Block(ctx context.Context, height int64, watch chain.Watch) (block chain.Block, err error) {
	err = v.tryServers(ctx, height, func(n *server) error {
		if block, err = n.fetchBlock(ctx, height, watch); err != nil {
			return err
		}
		block, err = v.confirmBlock(ctx, n, block, watch)
		return err
	})
	if err != nil {
		return chain.Block{}, err
	}
	return block, nil
}

// Pending implements chain.Reader. It returns nothing, because only validated ledgers are read.
func (v *view) Pending(ctx context.Context, _ chain.Watch) (chain.Pending, error) {
	return chain.Pending{}, ctx.Err()
}

// tryServers calls ask for one server after the other until one succeeds. The view's server comes
// first; servers that reported to lack the ledger come last.
func (v *view) tryServers(ctx context.Context, height int64, ask func(*server) error) error {
	if height < 1 || height > v.tip {
		return errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	var failed error
	for _, n := range v.orderServers(v.server, height) {
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
		var unconfirmed *quorum.Problem
		if errors.As(err, &unconfirmed) || ctx.Err() != nil {
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
	others := s.nodes.HealthyOthers(current.Node)
	return sortByLedger(append([]*server{current}, others...), height)
}

// sortByLedger moves the servers that reported to have a ledger before the others.
func sortByLedger(servers []*server, index int64) []*server {
	var all, without []*server
	for _, n := range servers {
		if n.hasLedger(index) {
			all = append(all, n)
		} else {
			without = append(without, n)
		}
	}
	return append(all, without...)
}
