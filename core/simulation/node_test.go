package simulation_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"cointill/chain"
)

// Faults of nodes.
const (
	nodeHealthy    = ""
	nodeLags       = "node lags"
	nodeFails      = "node fails in the middle"
	nodeOldTip     = "node names an old tip"
	nodeForgets    = "node lacks a block"
	nodeEmptyPool  = "node's mempool is empty"
	nodeOther      = "node shows a block of another branch"
	nodeNoPool     = "node can't read its mempool"
	nodeMinesAfter = "node moves while it is read"
	nodeOut        = "all nodes are out"
)

var nodeFaults = []string{nodeLags, nodeFails, nodeOldTip, nodeForgets, nodeEmptyPool, nodeOther, nodeNoPool, nodeMinesAfter}

// errNode is a node that doesn't answer.
var errNode = errors.New("simulated: the node doesn't answer")

// node is a chain.Source: one node of a network, with what is wrong with it
// during one step of the follower.
type node struct {
	*network
	fault  string
	failAt int // questions until it fails
	view   picture
	pool   bool // it was asked for its mempool, and has told
	polled bool // the same, at any time in the step
}

// begin makes the node ready for a step.
func (n *node) begin(fault string) {
	n.fault, n.failAt, n.view, n.pool, n.polled = fault, 1+n.rng.IntN(6), n.now, false, false
	n.world.steps++
	switch fault {
	case nodeLags, nodeOldTip:
		if len(n.past) > 0 {
			old := n.past[n.rng.IntN(len(n.past))]
			if old.branch < n.served { // no node goes back to a branch that all had left
				n.fault = nodeHealthy
			} else {
				n.view = old
			}
		}
	}
	if n.fault != nodeHealthy {
		n.count(n.fault)
	}
	n.served = max(n.served, n.view.branch)
}

// ask counts a question, and fails if it is the one.
func (n *node) ask(ctx context.Context) error {
	if n.failAt--; n.fault == nodeFails && n.failAt <= 0 || n.fault == nodeOut {
		return errNode
	}
	return ctx.Err()
}

// At implements chain.Source. Asked again after its mempool it ends a look.
func (n *node) At(ctx context.Context) (chain.View, error) {
	err := n.ask(ctx)
	if err == nil && n.pool {
		n.looks = append(n.looks, look{n.network, n.clock.Now(), n.world.steps, n.now.tip().Height, n.late()})
	}
	n.pool = false
	return chain.View{Tip: chain.Tip{Header: n.view.tip().Header, Finalized: n.view.finalized}, Reader: n}, err
}

// late lists the transactions that are in a block, and in none that the node knows of.
func (n *node) late() (list []*coinTx) {
	if n.fault != nodeLags && n.fault != nodeOldTip {
		return nil
	}
	for _, b := range n.now.blocks {
		for _, t := range b.txs {
			if n.view.where(t) == nil {
				list = append(list, t)
			}
		}
	}
	return list
}

// Header implements chain.Reader.
func (n *node) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := n.ask(ctx); err != nil {
		return chain.Header{}, err
	}
	if height < 0 || height >= int64(len(n.view.blocks)) {
		return chain.Header{}, chain.ErrNoBlock
	}
	return n.view.blocks[height].Header, nil
}

// Block implements chain.Reader.
func (n *node) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := n.ask(ctx); err != nil {
		return chain.Block{}, err
	}
	blocks := n.view.blocks
	if n.fault == nodeOldTip {
		blocks = n.now.blocks // another node answers, which is further
		n.served = max(n.served, n.now.branch)
	}
	if height < 0 || height >= int64(len(blocks)) || n.fault == nodeForgets && height == int64(len(blocks))-1 {
		return chain.Block{}, chain.ErrNoBlock
	}
	b := blocks[height]
	out := chain.Block{Header: b.Header}
	if n.fault == nodeOther {
		out.Hash, out.Parent = "other-"+b.Hash, "other-"+b.Parent
		return out, nil
	}
	for _, t := range b.txs {
		transfers, spends := t.MatchWatch(n.name, watch)
		out.Transfers, out.Spends = append(out.Transfers, transfers...), append(out.Spends, spends...)
		out.Departures = append(out.Departures, t.matchLeft(watch)...)
	}
	return out, nil
}

// Pending implements chain.Reader. The ledger of XRP and Tron show no mempool.
func (n *node) Pending(ctx context.Context, watch chain.Watch) (p chain.Pending, err error) {
	switch {
	case n.fault == nodeNoPool:
		return p, errNode
	case !n.hasMempool:
		for _, t := range n.now.pool {
			t.hidden = t.hidden || t.cut > 0 // a block held it, and no node shows it now
		}
		err = n.ask(ctx)
		n.pool = err == nil
		return p, err
	case n.fault == nodeMinesAfter && len(n.view.blocks) == len(n.now.blocks) && n.view.branch == n.now.branch:
		n.mine(true)
		n.view = n.now
		n.fault = nodeHealthy
	}
	shown := n.view.pool
	if n.fault == nodeEmptyPool {
		shown = nil
	}
	for _, t := range slices.Concat(n.now.pool, n.late()) {
		t.hidden = t.hidden || !slices.Contains(shown, t)
	}
	for _, t := range shown {
		transfers, spends := t.MatchWatch(n.name, watch)
		for i := range transfers {
			transfers[i].Reverted = false
		}
		p.Transfers, p.Spends = append(p.Transfers, transfers...), append(p.Spends, spends...)
	}
	err = n.ask(ctx)
	n.pool = err == nil
	n.polled = n.polled || n.pool
	return p, err
}

// noteApplied tells the model that a step went through up to a height: all that the node shows there is known, the
// mempool if it was asked for it. A step asks for none while nothing is awaited.
func (n *node) noteApplied(height int64) {
	n.applied = append(n.applied, look{n.network, n.clock.Now(), n.world.steps, height, n.late()})
	for _, b := range n.view.blocks {
		for _, t := range b.txs {
			if b.Height <= height {
				t.wasShown(b.Time)
			}
		}
	}
	if !n.hasMempool || n.fault == nodeEmptyPool || !n.polled {
		return
	}
	for _, t := range n.view.pool {
		t.wasShown(n.clock.Now())
	}
}

// wasShown notes that a step went through that shows the transaction, which is known from a time on.
func (t *coinTx) wasShown(at time.Time) {
	if t.shown.IsZero() || at.Before(t.shown) {
		t.shown = at
	}
	if t.step == 0 {
		t.step, t.known = t.net.world.steps, t.net.clock.Now()
	}
}
