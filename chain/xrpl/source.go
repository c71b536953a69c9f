// Package xrpl reads the XRP Ledger from servers that speak rippled's or Clio's
// API, in version 1 or 2, over JSON-RPC or a websocket: see Config. Validated
// ledgers are walked one by one. What their headers say is proved by their hashes;
// what the transactions in them say is JSON, and only as good as the server, so
// with two servers every ledger is read from both.
//
// Only what a payment delivered counts, and only when the destination's balance
// rose by exactly that: see transfersOf.
package xrpl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/clock"
)

// Config says which network is read and from which servers.
type Config struct {
	Params params.Params
	// Nodes are the URLs of the servers, the preferred one first:
	//
	//	http(s)://user:password@host:port   JSON-RPC
	//	ws(s)://user:password@host:port     a websocket, which also tells of new ledgers
	//
	// ?stream=ws://host:port behind the first lets a websocket tell of new ledgers.
	Nodes []string
	Clock clock.Clock
	Log   *slog.Logger // told when a server becomes unusable or usable again, and of value that credits nothing; nil means nobody is
}

// Source is a network as one or several servers show it. One server is asked at a
// time, the same from a Tip to the next, and another one where it lacks a ledger
// or fails; the others check it. Servers that are down, on another network,
// lagging, amendment blocked or not in step are left out; while two that are well
// contradict each other, none is believed.
//
// Its answers keep the rules of chain.Source. A validated ledger is final, so Tip
// says that all is, and there is nothing pending.
type Source struct {
	params  params.Params
	clock   clock.Clock
	log     *slog.Logger
	servers []*server
	push    []listener
	pace    pace

	choosing sync.Mutex // one choice of a server at a time; guards what follows
	chosen   *server
	disputed string // the sentence while servers disagree

	mu        sync.Mutex
	asked     *server // the server of the last Tip; nil when that failed
	tip       int64   // its index then
	listeners map[int]func()
	listened  int // number of the last one
}

// pace is how patient a source is; tests have less time.
type pace struct {
	pause time.Duration // how long a look at an unhealthy server is remembered
	grace time.Duration // what a look at a server that isn't asked may delay a Tip by
	most  time.Duration // what it may take in the background
	retry time.Duration // first rest before a stream is opened again
}

var usualPace = pace{pause: 5 * time.Second, grace: 250 * time.Millisecond, most: 15 * time.Second, retry: time.Second}

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
	s := &Source{params: c.Params, clock: c.Clock, log: c.Log, pace: usualPace, listeners: map[int]func(){}}
	for i := range endpoints {
		e, client := &endpoints[i], newHTTP()
		var asking transport = &httpTransport{base: e.base, header: e.header, http: client, silence: maxSilence}
		if e.socket {
			asking = &socketTransport{url: e.base, header: e.header, http: client, silence: maxSilence, turn: make(chan struct{}, 1)}
		}
		s.servers = append(s.servers, &server{number: i + 1, of: len(endpoints), host: e.host, params: c.Params, clock: c.Clock, log: c.Log,
			rpc: &rpc{transport: asking}, asking: make(chan struct{}, 1), headers: map[int64]chain.Header{}})
		if e.stream != "" {
			s.push = append(s.push, listener{e.host, func(ctx context.Context, up, heard func()) error { return subscribe(ctx, e, client, up, heard) }})
		}
	}
	return s, nil
}

// Network is the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Tip implements chain.Source. The server that it reads answers all other
// questions until the next Tip.
func (s *Source) Tip(ctx context.Context) (chain.Tip, error) {
	_, header, err := s.ask(ctx)
	if err != nil {
		return chain.Tip{}, err
	}
	return chain.Tip{Header: header, Finalized: header.Height}, nil
}

// ask chooses the server that is asked from now on.
func (s *Source) ask(ctx context.Context) (*server, chain.Header, error) {
	n, header, err := s.choose(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.tip = n, header.Height
	return n, header, err
}

// current is the server that the last Tip read, and the tip's index.
func (s *Source) current(ctx context.Context) (*server, int64, error) {
	s.mu.Lock()
	n, tip := s.asked, s.tip
	s.mu.Unlock()
	if n != nil {
		return n, tip, ctx.Err()
	}
	n, header, err := s.ask(ctx)
	return n, header.Height, err
}

// Header implements chain.Source.
func (s *Source) Header(ctx context.Context, height int64) (header chain.Header, err error) {
	err = s.each(ctx, height, func(n *server) error {
		header, err = n.headerAt(ctx, height)
		return err
	})
	return header, err
}

// Block implements chain.Source. It has no spends: an account's transactions come
// one after the other, and those that are pending are not shown.
func (s *Source) Block(ctx context.Context, height int64, watch chain.Watch) (block chain.Block, err error) {
	err = s.each(ctx, height, func(n *server) error {
		if block, err = n.blockAt(ctx, height, watch); err != nil {
			return err
		}
		block, err = s.witness(ctx, n, block, watch)
		return err
	})
	if err != nil {
		return chain.Block{}, err
	}
	return block, nil
}

// Pending implements chain.Source: nothing is shown before it is final.
func (s *Source) Pending(ctx context.Context, _ chain.Watch) (chain.Pending, error) {
	return chain.Pending{}, ctx.Err()
}

// each asks one server after the other until one answers: the current one first,
// and those last that said that they lack the ledger.
func (s *Source) each(ctx context.Context, height int64, ask func(*server) error) error {
	current, tip, err := s.current(ctx)
	if err != nil {
		return err
	}
	if height < 1 || height > tip {
		return errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	var failed error
	for _, n := range s.order(current, height) {
		err := ask(n)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errNotHere):
			continue
		}
		var told chain.Problem
		if err = n.blame(ctx, err); errors.As(err, &told) && failed == nil {
			failed = err
		}
		if isDispute(err) {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return chain.Problem(fmt.Sprintf("No server has ledger %d any more, or yet, which must be read before the newer ones. Nothing is lost, and nothing is "+
		"counted until one has it: use a server with a longer history (ledger_history, or a public one with all ledgers).", height))
}

// order is in which order servers are asked for a ledger.
func (s *Source) order(current *server, height int64) []*server {
	all, without := []*server{}, []*server{}
	for _, n := range append([]*server{current}, s.servers...) {
		v := n.seen()
		switch {
		case n != current && !v.healthy() || len(all)+len(without) > 0 && n == current:
		case v.has(height):
			all = append(all, n)
		default:
			without = append(without, n)
		}
	}
	return append(all, without...)
}
