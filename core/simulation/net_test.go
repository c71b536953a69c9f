package simulation_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// coinTx is a transaction with what the model is told of it: the truth about the
// network, and what nodes were asked about and showed.
type coinTx struct {
	chain.Tx
	id      string
	born    time.Time // when it was broadcast
	shown   time.Time // when it was seen at the latest, by what a step saw that went through; zero while none did
	step    int       // which one of the network's steps the first such was; 0 while none did
	instead []*coinTx // those that it replaced
	lost    []*coinTx // those whose money it spends that had left the network before
	cut     int64     // the most confirmations that it had when its block left the chain
	hidden  bool      // a node's mempool lacked it although the network had it
	held    bool      // no block takes it
}

type block struct {
	chain.Header
	txs []*coinTx
}

// picture is a network as a node may show it. What it holds is never changed.
type picture struct {
	blocks    []block
	pool      []*coinTx
	finalized int64
	branch    int
}

func (p picture) tip() block { return p.blocks[len(p.blocks)-1] }

// network is one simulated chain: the truth, and the pictures of it that were
// true before.
type network struct {
	*world
	name   chain.Network
	kind   money.Chain
	now    picture
	past   []picture
	served int // the latest branch that a node has shown
	// reached is when a height was first reached, on whatever branch.
	reached []time.Time
	// looks are when a node gave a whole picture: blocks up to its tip, and the mempool.
	looks  []look
	steps  int
	out    time.Time // until when all its nodes are
	serial int
	all    []*coinTx
	byID   map[string]*coinTx
}

// look is when a node gave a whole picture, and in which of the network's steps.
type look struct {
	at   time.Time
	step int
}

func newNetwork(w *world, kind money.Chain) *network {
	n := &network{world: w, name: chain.Sandbox(kind), kind: kind, byID: map[string]*coinTx{}}
	n.now.finalized = -1 // the network has no finality of its own
	if kind == money.Ethereum {
		n.now.finalized = 0
	}
	n.seal(nil)
	return n
}

// change begins a new picture, and keeps the old one for nodes that lag.
func (n *network) change() {
	n.past = append(n.past, n.now)
	if len(n.past) > 12 {
		n.past = n.past[1:]
	}
	n.now.blocks, n.now.pool = slices.Clone(n.now.blocks), slices.Clone(n.now.pool)
}

// coin is a fresh spend key.
func (n *network) coin() string {
	n.serial++
	return fmt.Sprintf("%s-coin-%d", n.kind, n.serial)
}

// broadcast puts a transaction into the mempool; those that it shares a coin
// with leave it.
func (n *network) broadcast(tx chain.Tx, held bool) *coinTx {
	t := &coinTx{Tx: tx, id: tx.ID(n.name), born: n.clock.Now(), held: held}
	n.change()
	for _, other := range n.all {
		if shares(other, t) && n.where(other) == nil && !slices.Contains(n.now.pool, other) {
			t.lost = append(t.lost, other)
		}
	}
	n.all, n.byID[t.id] = append(n.all, t), t
	n.now.pool = slices.DeleteFunc(n.now.pool, func(other *coinTx) bool {
		if shares(other, t) {
			t.instead = append(t.instead, other)
			n.count("replaced in the mempool")
			return true
		}
		return false
	})
	n.now.pool = append(n.now.pool, t)
	return t
}

func shares(a, b *coinTx) bool {
	return slices.ContainsFunc(a.Spends, func(key string) bool { return slices.Contains(b.Spends, key) })
}

// seal puts a block on top.
func (n *network) seal(txs []*coinTx) {
	height, parent := int64(len(n.now.blocks)), ""
	if height > 0 {
		parent = n.now.tip().Hash
	}
	content := fmt.Sprint(n.name, height, parent, n.now.branch)
	for _, t := range txs {
		content += t.id
	}
	sum := sha256.Sum256([]byte(content))
	header := chain.Header{BlockID: chain.BlockID{Height: height, Hash: hex.EncodeToString(sum[:])}, Parent: parent, Time: n.clock.Now()}
	n.now.blocks = append(n.now.blocks, block{header, txs})
	if height == int64(len(n.reached)) {
		n.reached = append(n.reached, n.clock.Now())
	}
	if n.kind == money.Ethereum {
		n.now.finalized = max(n.now.finalized, height-finality)
	}
}

// finality is how far Ethereum's own finality is behind its tip here.
const finality = 14

// mine makes a block of what waits: mostly all of it.
func (n *network) mine(everything bool) {
	n.change()
	var taken []*coinTx
	n.now.pool = slices.DeleteFunc(n.now.pool, func(t *coinTx) bool {
		if t.held || !everything && n.rng.IntN(8) == 0 {
			return false
		}
		taken = append(taken, t)
		return true
	})
	n.seal(taken)
}

// drop takes a waiting transaction out of the network for good.
func (n *network) drop(t *coinTx) bool {
	n.change()
	before := len(n.now.pool)
	n.now.pool = slices.DeleteFunc(n.now.pool, func(other *coinTx) bool { return other == t })
	return len(n.now.pool) < before
}

// reorg replaces the last blocks by one more of them. What they held is mined
// again, waits again, is gone, or was double-spent, as the dice fall.
func (n *network) reorg(depth int) {
	depth = min(depth, len(n.now.blocks)-2)
	if n.kind == money.Ethereum {
		depth = min(depth, len(n.now.blocks)-1-int(n.now.finalized))
	}
	if depth < 1 || n.kind == money.XRPL {
		return
	}
	n.change()
	at := len(n.now.blocks) - depth
	old, tip := n.now.blocks[at:], n.now.tip().Height
	n.now.blocks = slices.Clone(n.now.blocks[:at])
	n.now.branch++
	fresh := make([][]*coinTx, depth+1)
	for _, b := range old {
		for _, t := range b.txs {
			t.cut = max(t.cut, tip-b.Height+1)
			switch n.rng.IntN(8) {
			case 0, 1:
				n.now.pool = append(n.now.pool, t)
				n.count("reorganised into the mempool")
			case 2:
				n.count("reorganised away")
			case 3, 4:
				n.rival(t, &fresh[0])
			default:
				i := n.rng.IntN(len(fresh))
				fresh[i] = append(fresh[i], t)
				n.count("reorganised into another block")
			}
		}
	}
	for _, txs := range fresh {
		n.seal(txs)
	}
	n.count("reorganisation")
}

// rival spends a transaction's money elsewhere, in a block.
func (n *network) rival(t *coinTx, into *[]*coinTx) {
	out := chain.Output{Asset: t.Outputs[0].Asset, Destination: chain.Destination{Address: "elsewhere"}, Amount: t.Outputs[0].Amount}
	tx := chain.Tx{Outputs: []chain.Output{out}, Spends: append([]string{n.coin()}, t.Spends...)}
	r := &coinTx{Tx: tx, id: tx.ID(n.name), born: n.clock.Now()}
	n.all, n.byID[r.id] = append(n.all, r), r
	n.now.pool = slices.DeleteFunc(n.now.pool, func(other *coinTx) bool { return shares(other, t) })
	*into = append(*into, r)
	n.count("double-spent in another branch")
}

// where is the block of the best chain that holds a transaction; nil when none does.
func (n *network) where(t *coinTx) *block {
	for i := range n.now.blocks {
		if slices.Contains(n.now.blocks[i].txs, t) {
			return &n.now.blocks[i]
		}
	}
	return nil
}

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
}

// begin makes the node ready for a step.
func (n *node) begin(fault string) {
	n.fault, n.failAt, n.view, n.pool = fault, 1+n.rng.IntN(6), n.now, false
	n.steps++
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

// Tip implements chain.Source. Asked again after its mempool it ends a look.
func (n *node) Tip(ctx context.Context) (chain.Tip, error) {
	err := n.ask(ctx)
	if err == nil && n.pool {
		n.looks = append(n.looks, look{n.clock.Now(), n.steps})
	}
	n.pool = false
	return chain.Tip{Header: n.view.tip().Header, Finalized: n.view.finalized}, err
}

// Header implements chain.Source.
func (n *node) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := n.ask(ctx); err != nil {
		return chain.Header{}, err
	}
	if height < 0 || height >= int64(len(n.view.blocks)) {
		return chain.Header{}, chain.ErrNoBlock
	}
	return n.view.blocks[height].Header, nil
}

// Block implements chain.Source.
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
		transfers, spends := t.Concerning(n.name, watch)
		out.Transfers, out.Spends = append(out.Transfers, transfers...), append(out.Spends, spends...)
	}
	return out, nil
}

// Pending implements chain.Source. The ledger of XRP has no mempool.
func (n *node) Pending(ctx context.Context, watch chain.Watch) (p chain.Pending, err error) {
	switch {
	case n.fault == nodeNoPool:
		return p, errNode
	case n.kind == money.XRPL:
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
	for _, t := range n.now.pool {
		t.hidden = t.hidden || !slices.Contains(shown, t)
	}
	for _, t := range shown {
		transfers, spends := t.Concerning(n.name, watch)
		for i := range transfers {
			transfers[i].Reverted = false
		}
		p.Transfers, p.Spends = append(p.Transfers, transfers...), append(p.Spends, spends...)
	}
	err = n.ask(ctx)
	n.pool = err == nil
	return p, err
}

// applied tells the model that a step went through: all that the node shows is known.
func (n *node) applied() {
	for _, b := range n.view.blocks {
		for _, t := range b.txs {
			t.wasShown(b.Time, n.steps)
		}
	}
	if n.kind == money.XRPL || n.fault == nodeEmptyPool {
		return
	}
	for _, t := range n.view.pool {
		t.wasShown(n.clock.Now(), n.steps)
	}
}

func (t *coinTx) wasShown(at time.Time, step int) {
	if t.shown.IsZero() || at.Before(t.shown) {
		t.shown = at
	}
	if t.step == 0 {
		t.step = step
	}
}
