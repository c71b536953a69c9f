package simulation_test

import (
	"crypto/sha256"
	"encoding/hex"
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
	net     *network
	order   int               // it is the one of that number in the world
	born    time.Time         // when it was broadcast
	known   time.Time         // when a step that went through had shown it; zero while none had
	shown   time.Time         // when it was seen at the latest, by what a step saw that went through; zero while none did
	step    int               // which one of the world's steps the first such was; 0 while none did
	instead []*coinTx         // those that it replaced
	lost    []*coinTx         // those whose money it spends that had left the network before
	cut     int64             // the most confirmations that it had when its block left the chain
	hidden  bool              // no mempool may have shown it at some look
	held    bool              // no block takes it
	lowest  int64             // the lowest height at which a block held it; 0 while none did
	left    []chain.Departure // taken from addresses
}

type block struct {
	chain.Header
	txs  []*coinTx
	step int // of the world, after which it was mined
}

// picture is a network as a node may show it. What it holds is never changed.
type picture struct {
	blocks    []block
	pool      []*coinTx
	finalized int64
	branch    int
}

func (p picture) tip() block { return p.blocks[len(p.blocks)-1] }

// where is the block that holds a transaction; nil when none does.
func (p picture) where(t *coinTx) *block {
	for i := range p.blocks {
		if slices.Contains(p.blocks[i].txs, t) {
			return &p.blocks[i]
		}
	}
	return nil
}

// network is one simulated chain: the truth, and the pictures of it that were
// true before.
type network struct {
	*world
	name chain.Network
	kind money.Chain
	// home is the network that has the addresses: Ethereum for all of its kind.
	home money.Chain
	// small and large are the contract's depths for up to 100 USD, and above.
	small, large int64
	behind       int64 // how far its own finality is behind the tip; -1 for none
	hasMempool   bool
	reorganises  bool

	now    picture
	past   []picture
	served int // the latest branch that a node has shown
	// reached is when a height was first reached, on whatever branch.
	reached []time.Time
	// looks are when a node gave a whole picture: blocks up to its tip, and the mempool.
	looks []look
	// applied are the looks that a step applied to the database, each with the height up to which.
	applied []look
	out     time.Time // until when all its nodes are
	serial  int
	// addresses counts those that sends go to.
	addresses int
	all       []*coinTx
	byID      map[string]*coinTx
	collected []*coinTx       // that merchants moved by no send
	taken     map[string]bool // outputs that a transaction of their merchant took, by transaction and index
}

// look is when a node gave a whole picture, and in which of the world's steps.
type look struct {
	net  *network
	at   time.Time
	step int
	top  int64     // the network's height then
	late []*coinTx // those that a block held already, and none that the node knew of
}

func newNetwork(w *world, kind money.Chain) *network {
	n := &network{world: w, name: chain.Sandbox(kind), kind: kind, home: findHome(kind), behind: -1,
		hasMempool: kind != money.XRPL && kind != money.Tron, reorganises: kind != money.XRPL,
		byID: map[string]*coinTx{}, taken: map[string]bool{}}
	n.now.finalized = -1 // the network has no finality of its own
	n.small, n.large = 1, 1
	switch facts, known := money.FindNetworkFacts(kind); {
	case known:
		n.now.finalized, n.small = 0, int64(facts.Finality.Depth)
		// Where finality takes thousands of blocks, a few more than the depth do here.
		n.behind = min(int64(facts.Finality.Usual/facts.BlockTime), n.small+2)
		if n.large = max(n.small, n.behind+1); facts.FinalByNetwork {
			n.small = n.large
		}
	case kind == money.Bitcoin:
		n.small, n.large = 2, 3
	case kind == money.Dogecoin:
		n.small, n.large = 6, 40
	}
	n.seal(nil)
	return n
}

// findHome returns the network that has the addresses of another.
func findHome(kind money.Chain) money.Chain {
	if kind.IsEVM() {
		return money.Ethereum
	}
	return kind
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
	t := n.newTx(tx)
	t.held = held
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

// newTx begins what is known of a transaction of the network.
func (n *network) newTx(tx chain.Tx) *coinTx {
	n.world.txs++
	return &coinTx{Tx: tx, id: tx.ID(n.name), net: n, order: n.world.txs, born: n.clock.Now()}
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
		if t.lowest == 0 || height < t.lowest {
			t.lowest = height
		}
	}
	sum := sha256.Sum256([]byte(content))
	header := chain.Header{BlockID: chain.BlockID{Height: height, Hash: hex.EncodeToString(sum[:])}, Parent: parent, Time: n.clock.Now()}
	n.now.blocks = append(n.now.blocks, block{header, txs, n.steps})
	if height == int64(len(n.reached)) {
		n.reached = append(n.reached, n.clock.Now())
	}
	if n.behind >= 0 {
		n.now.finalized = max(n.now.finalized, height-n.behind)
	}
}

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

// drop takes a waiting transaction out of the network.
func (n *network) drop(t *coinTx) bool {
	n.change()
	t.hidden = true
	before := len(n.now.pool)
	n.now.pool = slices.DeleteFunc(n.now.pool, func(other *coinTx) bool { return other == t })
	return len(n.now.pool) < before
}

// isSpent reports that a block of the best chain spends money of a transaction.
func (n *network) isSpent(t *coinTx) bool {
	return slices.ContainsFunc(n.now.blocks, func(b block) bool {
		return slices.ContainsFunc(b.txs, func(other *coinTx) bool { return shares(other, t) })
	})
}

// revive puts a transaction that left the network into the mempool again, unless its money is spent.
func (n *network) revive(t *coinTx) bool {
	if n.isSpent(t) || slices.ContainsFunc(n.now.pool, func(other *coinTx) bool { return shares(other, t) }) {
		return false
	}
	n.change()
	n.now.pool = append(n.now.pool, t)
	return true
}

// reorg replaces the last blocks by one more of them. What they held is mined
// again, waits again, is gone, or was double-spent, as the dice fall.
func (n *network) reorg(depth int) {
	depth = min(depth, len(n.now.blocks)-2)
	if n.behind >= 0 {
		depth = min(depth, len(n.now.blocks)-1-int(n.now.finalized))
	}
	if depth < 1 || !n.reorganises {
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
	r := n.newTx(tx)
	n.all, n.byID[r.id] = append(n.all, r), r
	n.now.pool = slices.DeleteFunc(n.now.pool, func(other *coinTx) bool { return shares(other, t) })
	*into = append(*into, r)
	n.count("double-spent in another branch")
}

// where is the block of the best chain that holds a transaction; nil when none does.
func (n *network) where(t *coinTx) *block { return n.now.where(t) }
