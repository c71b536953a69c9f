// Package bitcoin reads Bitcoin and Dogecoin, and networks like them, from nodes
// that speak Bitcoin Core's JSON-RPC or btcd's, and from Esplora servers: see
// Config. Blocks and transactions are fetched as bytes and read by ParseBlock and
// ParseTx, which verify what bytes can prove; no number that counts money is ever
// read from JSON.
package bitcoin

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/clock"
)

// Config says which network is read and from which nodes.
type Config struct {
	Params params.Params
	// Nodes are the URLs of the nodes, the preferred one first:
	//
	//	http(s)://user:password@host:port     JSON-RPC of Bitcoin Core, Dogecoin Core or btcd
	//	http(s)://host:port?cookie=/a/.cookie the same, signed with the node's cookie file
	//	btcd+ws(s)://user:password@host:port  btcd, with its notifications over a websocket
	//	esplora+http(s)://host/api            an Esplora server
	//
	// ?zmq=tcp://host:port adds a ZeroMQ publisher of the node (hashtx, rawtx,
	// hashblock or rawblock), and may stand there several times; ?cert=/a/rpc.cert
	// names the certificate of a node that made one for itself.
	Nodes []string
	Clock clock.Clock
	Log   *slog.Logger // told when a node becomes unusable or usable again; nil means nobody is
}

// Source is a bitcoin-like network as one or several nodes show it. One node is
// asked at a time, the same from a Tip to the next; the others check it. Nodes
// that are down, on another network, syncing, hanging or behind are left out;
// while two that are well are on different branches, and it is more than two
// blocks that compete for the end, none is believed.
//
// Its answers keep the rules of chain.Source: what the node says is verified as
// far as bytes can be, and nothing that a push connection brings is believed.
type Source struct {
	params params.Params
	clock  clock.Clock
	log    *slog.Logger
	nodes  []*node
	push   []listener
	pool   mempool
	pace   pace

	choosing sync.Mutex // one choice of a node at a time; guards what follows
	chosen   *node
	agreed   map[[2]int][2]string // by pairs of nodes: a tip of the first, and one of the second that it leads to
	disputed string               // the sentence while nodes disagree

	mu        sync.Mutex
	asked     *node  // the node of the last Tip; nil when that failed
	tip       string // its hash then
	watch     chain.Watch
	listeners map[int]func() // by number
	listened  int            // number of the last one
}

// pace is how patient a source is; tests have less time.
type pace struct {
	moment time.Duration // how long a look at a healthy node that isn't asked is remembered
	pause  time.Duration // how long one at an unhealthy node is
	grace  time.Duration // what such a look may delay a Tip by
	most   time.Duration // what it may take in the background
	fill   time.Duration // what one Pending may take
	quick  time.Duration // a listing of the mempool that takes less needs no rest
	fresh  time.Duration // how long new transactions are held against additions to the watch
	retry  time.Duration // first rest before a push connection is opened again
}

var usualPace = pace{
	moment: 2 * time.Second, pause: 5 * time.Second, grace: 250 * time.Millisecond, most: 15 * time.Second,
	fill: 10 * time.Second, quick: 25 * time.Millisecond, fresh: time.Minute, retry: time.Second,
}

var _ chain.Source = (*Source)(nil)

// New makes a source. It reads the certificate files that URLs name, but
// connects to nothing. Its errors say which URL is wrong, by its place and
// without any of its text.
func New(c Config) (*Source, error) {
	endpoints, err := parseEndpoints(c.Nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Params.Network(), err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{params: c.Params, clock: c.Clock, log: c.Log, pace: usualPace, agreed: map[[2]int][2]string{}, pool: mempool{most: youngBytes}}
	for i := range endpoints {
		e := &endpoints[i]
		http, err := newClient(e)
		if err != nil {
			return nil, fmt.Errorf("%s: node %d of %d: %w", c.Params.Network(), i+1, len(endpoints), err)
		}
		var asking backend = &core{rpc: &rpc{client: http}}
		if e.esplora {
			asking = &esplora{http}
		}
		s.nodes = append(s.nodes, &node{number: i + 1, of: len(endpoints), host: e.host, params: c.Params, clock: c.Clock, log: c.Log,
			backend: asking, asking: make(chan struct{}, 1), headers: map[string]chain.Header{}})
		s.push = append(s.push, s.listenersOf(e, http)...)
	}
	return s, nil
}

// Network is the network's name.
func (s *Source) Network() chain.Network { return s.params.Network() }

// Notify has a function called whenever a node pushes something, until stop is
// called: a follower's Wake. It must not block.
func (s *Source) Notify(wake func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[int]func(){}
	}
	s.listened++
	id := s.listened
	s.listeners[id] = wake
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, id)
	}
}

func (s *Source) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, wake := range s.listeners {
		wake()
	}
}

// Tip implements chain.Source. The node that it reads answers all other
// questions until the next Tip.
func (s *Source) Tip(ctx context.Context) (chain.Tip, error) {
	_, header, err := s.ask(ctx)
	if err != nil {
		return chain.Tip{}, err
	}
	return chain.Tip{Header: header, Finalized: -1}, nil
}

// ask chooses the node that is asked from now on.
func (s *Source) ask(ctx context.Context) (*node, chain.Header, error) {
	n, header, err := s.choose(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.tip = n, header.Hash
	return n, header, err
}

// current is the node that the last Tip read, and the tip's hash.
func (s *Source) current(ctx context.Context) (*node, string, error) {
	s.mu.Lock()
	n, tip := s.asked, s.tip
	s.mu.Unlock()
	if n != nil {
		return n, tip, ctx.Err()
	}
	n, header, err := s.ask(ctx)
	return n, header.Hash, err
}

// Header implements chain.Source.
func (s *Source) Header(ctx context.Context, height int64) (chain.Header, error) {
	n, _, err := s.current(ctx)
	if err != nil {
		return chain.Header{}, err
	}
	hash, err := n.hash(ctx, height)
	if err != nil {
		return chain.Header{}, n.blame(ctx, err)
	}
	header, err := n.headerOf(ctx, height, hash)
	return header, n.blame(ctx, err)
}

// Block implements chain.Source.
func (s *Source) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	n, _, err := s.current(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	block, err := n.blockAt(ctx, height, watch)
	return block, n.blame(ctx, err)
}

// Pending implements chain.Source. See mempool for what it promises.
func (s *Source) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	n, tip, err := s.current(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	s.mu.Lock()
	s.watch = watch
	s.mu.Unlock()
	pending, err := s.pool.read(ctx, reading{Source: s, node: n, tip: tip, watch: watch})
	return pending, n.blame(ctx, err)
}
