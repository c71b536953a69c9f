package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/clock"
)

const (
	// trust is how long it is believed that an address leads to the same node.
	trust = 10 * time.Minute
	// shunning is how long a node that failed a question is asked last.
	shunning = 15 * time.Second
	// future is how far ahead of our clock a block may be: what nodes allow themselves.
	future = 2 * time.Hour
	// keptHeaders bounds how many headers of a node are remembered.
	keptHeaders = 1000
)

// names are what nodes call a network, where they don't call it by our name.
var names = map[string][]string{"mainnet": {"main"}, "testnet": {"test"}}

// node is one server of a network and what is known of it.
type node struct {
	number, of int
	host       string // for the log only
	params     params.Params
	clock      clock.Clock
	log        *slog.Logger
	backend

	asking chan struct{} // holds one token while a check runs
	late   bool          // left out for being behind; guarded by Source.choosing

	mu      sync.Mutex
	view    view
	shunned time.Time // until then other nodes are preferred
	proved  time.Time // when identity and genesis block were last checked
	headers map[string]chain.Header
}

// view is what the last check of a node found.
type view struct {
	at               time.Time // zero: it was never checked
	err              error     // why it can't be used; a chain.Problem where it is known what to do
	tip              chain.Header
	dialect, version string
}

func (v view) healthy() bool { return !v.at.IsZero() && v.err == nil }

// seen is the last view.
func (n *node) seen() view {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// check looks at the node anew, or waits until another check has ended and then
// does. The end of the context is no news about the node.
func (n *node) check(ctx context.Context) error {
	select {
	case n.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-n.asking }()
	return n.look(ctx)
}

// checkLater starts a check unless one runs, and tells when it has ended.
func (n *node) checkLater(ctx context.Context, most time.Duration) <-chan struct{} {
	ended := make(chan struct{})
	select {
	case n.asking <- struct{}{}:
	default:
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		defer func() { <-n.asking }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer cancel()
		if err := n.look(ctx); err != nil {
			n.note(view{err: n.problem(silent(most))})
		}
	}()
	return ended
}

// busy reports whether a check runs.
func (n *node) busy() bool { return len(n.asking) > 0 }

// look asks the node and notes what it finds; the error is the context's.
func (n *node) look(ctx context.Context) error {
	v, err := n.handshake(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.err = n.problem(err)
	}
	n.note(v)
	return nil
}

// note remembers a view, and tells the log when it changes for good or bad.
func (n *node) note(v view) {
	v.at = n.clock()
	n.mu.Lock()
	before := n.view
	if v.err != nil {
		n.proved = time.Time{}
		v.dialect, v.version = before.dialect, before.version
	}
	n.view = v
	n.mu.Unlock()
	switch {
	case v.err != nil && sentenceOf(v.err) != sentenceOf(before.err):
		n.log.Warn("a node can't be used", "network", n.params.Network(), "node", n.number, "host", n.host, "error", v.err)
	case v.err == nil && before.err != nil:
		n.log.Info("a node can be used again", "network", n.params.Network(), "node", n.number, "host", n.host)
	}
}

// handshake checks that the node follows the right network and is at its end.
func (n *node) handshake(ctx context.Context) (v view, err error) {
	before := n.seen()
	v.dialect, v.version = before.dialect, before.version
	prove := n.due()
	if prove {
		if v.dialect, v.version, err = n.identify(ctx); err != nil {
			return v, err
		}
	}
	s, err := n.state(ctx)
	if err != nil {
		return v, err
	}
	if err := n.rightNetwork(s); err != nil {
		return v, err
	}
	if prove {
		if err := n.rightGenesis(ctx); err != nil {
			return v, err
		}
		n.mu.Lock()
		n.proved = n.clock()
		n.mu.Unlock()
	}
	if err := n.caughtUp(s); err != nil {
		return v, err
	}
	if v.tip, err = n.headerOf(ctx, s.height, s.hash); err != nil {
		return v, err
	}
	return v, n.fresh(v.tip)
}

// due reports whether identity and genesis must be checked again.
func (n *node) due() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proved.IsZero() || n.clock().Sub(n.proved) > trust
}

func (n *node) rightNetwork(s state) error {
	want := n.params.Name
	if s.network == "" || s.network == want {
		return nil
	}
	for _, name := range names[want] {
		if s.network == name {
			return nil
		}
	}
	return troubled(fmt.Errorf("it follows %q", s.network),
		"follows another network than %s. Check which node its URL leads to, and which network is configured.", n.params.Network())
}

// rightGenesis compares the first block with the network's, where that is known.
func (n *node) rightGenesis(ctx context.Context) error {
	if n.params.Private || n.params.GenesisHash == nil {
		return nil
	}
	hash, err := n.hash(ctx, 0)
	if err != nil {
		return err
	}
	if hash != n.params.GenesisHash.String() {
		return troubled(fmt.Errorf("its first block is %s", hash),
			"follows another chain than %s: its first block is another. Check which node its URL leads to.", n.params.Network())
	}
	return nil
}

// caughtUp checks that the node has the blocks of which it knows the headers. A
// private network's node calls itself syncing while its tip is old, whatever
// the reason.
func (n *node) caughtUp(s state) error {
	if s.syncing && !n.params.Private || s.headers-s.height > 1 {
		return troubled(nil, "is still downloading the chain: it has block %d of %d. Wait until it has caught up.", s.height, s.headers)
	}
	return nil
}

// fresh checks that the last block's time is near ours.
func (n *node) fresh(tip chain.Header) error {
	age := n.clock().Sub(tip.Time)
	switch {
	case n.params.Stale == 0:
		return nil
	case age > n.params.Stale:
		return troubled(nil, "hangs: its last block, %d, is %s old. Check its connections to other nodes, and this machine's clock.",
			tip.Height, age.Round(time.Minute))
	case age < -future:
		return troubled(nil, "has a last block, %d, from the future. Check this machine's clock, then the node.", tip.Height)
	}
	return nil
}

// headerOf reads the header that a hash names, and verifies that it does.
func (n *node) headerOf(ctx context.Context, height int64, hash string) (chain.Header, error) {
	n.mu.Lock()
	known, ok := n.headers[hash]
	n.mu.Unlock()
	if ok && known.Height == height {
		return known, ctx.Err()
	}
	raw, err := n.header(ctx, hash)
	if err != nil {
		return chain.Header{}, err
	}
	got, parent, at, _, err := ParseHeader(raw, n.params)
	if err == nil && got != hash {
		err = fmt.Errorf("header %s came for %s", got, hash)
	}
	if err != nil {
		return chain.Header{}, damaged("a header", err)
	}
	h := chain.Header{BlockID: chain.BlockID{Height: height, Hash: hash}, Parent: parent, Time: at}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.headers) >= keptHeaders {
		clear(n.headers)
	}
	n.headers[hash] = h
	return h, nil
}

// blockAt reads the block at a height and verifies that it is the one that the
// node itself names there.
func (n *node) blockAt(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	hash, err := n.hash(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
	raw, err := n.block(ctx, hash)
	if err != nil {
		return chain.Block{}, err
	}
	block, err := ParseBlock(raw, n.params, height, watch)
	if err == nil && block.Hash != hash {
		err = fmt.Errorf("block %s came for %s", block.Hash, hash)
	}
	if err != nil {
		return chain.Block{}, damaged("a block", err)
	}
	return block, nil
}

// blame turns an error of a question about the chain into what the follower
// gets, and lets other nodes be asked first for a while.
func (n *node) blame(ctx context.Context, err error) error {
	var told chain.Problem // a problem of nobody's fault
	if err == nil || errors.Is(err, chain.ErrNoBlock) || errors.As(err, &told) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	n.mu.Lock()
	n.shunned = n.clock().Add(shunning)
	n.mu.Unlock()
	return n.problem(err)
}

// shunnedAt is until when the node is asked last; zero when it isn't.
func (n *node) shunnedAt() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.clock().Before(n.shunned) {
		return n.shunned
	}
	return time.Time{}
}
