package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
)

// behind is how many blocks a node may lack before it is left out.
const behind = 3

// Branching is a pool of a network whose chain may branch at its end: it finds the
// node to ask, and believes none while two that are well are on different branches.
type Branching struct {
	*Pool
	members []*Member
	agreed  map[[2]int][2]string // by pairs of nodes: a tip of the first, and one of the second that it leads to; guarded by the choice of a node
	walks   map[[2]int]walk      // by the same pairs: how far the first was asked for what its tip leads to; guarded likewise
	last    chain.Header         // the tip of the last choice; guarded likewise
}

// walk is how far down from a tip headers were read.
type walk struct {
	from string // the tip
	to   chain.Header
}

// Member is one node of such a network.
type Member struct {
	*Node
	parent func(ctx context.Context, h chain.Header) (chain.Header, error)
	late   bool // left out for being behind; guarded by the choice of a node
}

// NewBranching makes a pool without nodes.
func NewBranching(c Config) *Branching {
	return &Branching{Pool: NewPool(c), agreed: map[[2]int][2]string{}, walks: map[[2]int]walk{}}
}

// Join adds a node, before anything is asked. Parent reads the header before
// another from it, and proves what can be proved of that.
func (p *Branching) Join(host string, subject Subject, parent func(ctx context.Context, h chain.Header) (chain.Header, error)) *Node {
	n := p.Add(host, subject)
	p.members = append(p.members, &Member{Node: n, parent: parent})
	return n
}

// Nodes looks at every node now and tells how each does, in the configured order.
func (p *Branching) Nodes(ctx context.Context) []chain.NodeStatus {
	p.CheckAll(ctx)
	inUse, _, _ := p.Choose(ctx) // what is wrong is in the views and the dispute
	all, highest := p.Statuses(), highest(p.members)
	for i, n := range p.members {
		all[i].InUse = n == inUse
		if lacks := highest - n.Seen().Tip.Height; all[i].Problem == "" && lacks >= behind {
			all[i].Problem = n.Sentence(n.Problem(Troubled(nil, "is %d blocks behind the others, and is left out. Check its connections to other nodes.", lacks)))
		}
	}
	return all
}

// highest is the greatest height of the healthy nodes.
func highest(members []*Member) (height int64) {
	for _, n := range members {
		if v := n.Seen(); v.Healthy() {
			height = max(height, v.Tip.Height)
		}
	}
	return height
}

// Choose finds the node to ask: one that was looked at after the call began, is
// well, agrees with all others that are, and isn't behind them. It stays with the
// last one while that lacks at most one block.
func (p *Branching) Choose(ctx context.Context) (*Member, chain.Header, error) {
	p.Choosing.Lock()
	defer p.Choosing.Unlock()
	fresh := map[*Node]bool{}
	for range 4 * len(p.members) { // each round looks at a node anew, or ends
		if err := p.Look(ctx, fresh); err != nil {
			return nil, chain.Header{}, err
		}
		n, err := p.Pick(ctx, fresh)
		if errors.Is(err, ErrAgain) {
			continue
		}
		all := p.Chosen == nil // were waited for
		p.Chosen = nil
		switch {
		case err != nil:
			return nil, chain.Header{}, err
		case n == nil && all:
			return nil, chain.Header{}, p.Nobody()
		case n == nil:
			continue
		}
		if p.Chosen = n.Node; fresh[n.Node] {
			p.last = n.Seen().Tip
			return n, p.last, nil
		}
	}
	p.Chosen = nil
	return nil, chain.Header{}, p.Unstable()
}

// Pick compares the nodes that are well and gives the best that can be asked; nil
// when there is none. One that is being looked at is not asked, but what it
// showed last still counts against what others show. The caller holds Choosing.
func (p *Branching) Pick(ctx context.Context, fresh map[*Node]bool) (*Member, error) {
	var well, ready []*Member
	for _, n := range p.members {
		if !n.Seen().Healthy() {
			continue
		}
		well = append(well, n)
		if fresh[n.Node] || !n.Busy() {
			ready = append(ready, n)
		}
	}
	highest := highest(ready)
	var top *Member
	for _, n := range ready {
		if n.Seen().Tip.Height == highest && (top == nil || n.Node == p.Chosen) {
			top = n
		}
	}
	for _, n := range well {
		if top == nil || n == top || n.Seen().Tip.Height > highest {
			continue
		}
		if err := p.compare(ctx, top, n, fresh); err != nil {
			return nil, err
		}
	}
	p.Disputed = ""
	var best *Member
	for _, n := range ready {
		if late := highest-n.Seen().Tip.Height >= behind; late != n.late {
			n.late = late
			p.Log.Info("a node fell behind the others, or caught up", "network", p.Network, "host", n.Host, "left_out", late)
		}
		if !n.late && (best == nil || p.better(n, best, highest)) {
			best = n
		}
	}
	return best, nil
}

// shunned is until when a node is asked after another one. One question that it failed
// puts it after no node that lacks a block which it has: that one may lack what is
// counted already, and would stop the coin for nothing.
func shunned(n, other *Member) time.Time {
	if n.failedOnce() && n.Seen().Tip.Height > other.Seen().Tip.Height {
		return time.Time{}
	}
	return n.Shunned()
}

// better reports whether a node is to be asked rather than another that comes
// before it in the configuration.
func (p *Branching) better(n, other *Member, highest int64) bool {
	if a, b := shunned(n, other), shunned(other, n); !a.Equal(b) {
		return a.Before(b)
	}
	near := func(n *Member) bool { return n.Node == p.Chosen && highest-n.Seen().Tip.Height <= 1 }
	if near(n) || near(other) {
		return near(n)
	}
	return n.Seen().Tip.Height > other.Seen().Tip.Height
}

// compare makes sure that two nodes are on one chain. They are when the lower
// one's tip is on the higher one's chain: it merely lags. And two blocks on the
// same parent compete for the end now and then; whichever is asked, that is one
// confirmation. In every other case the higher branch is two blocks or more past
// the common ancestor, however short the other is, and nobody knows which of
// them is right: both are looked at anew, and if that stays, neither is believed,
// so that nothing becomes final on a branch that a healthy node contradicts.
//
// Two honest nodes come to that, too, when one hears of the block that decides a
// race, or of a reorganisation, seconds before the other. That dispute ends by
// itself when the other hears of it, and no money is counted meanwhile.
//
// What this can't see: a node that stands exactly where a false branch begins
// looks like one that lags, until its own next block. So before a branch counts
// that is two blocks or more past what it showed, it is looked at once more.
func (p *Branching) compare(ctx context.Context, top, n *Member, fresh map[*Node]bool) error {
	a, b := top.Seen().Tip, n.Seen().Tip
	if a.Hash == b.Hash || a.Height == b.Height && a.Parent == b.Parent {
		return nil
	}
	pair, tips := [2]int{top.Number, n.Number}, [2]string{a.Hash, b.Hash}
	on, err := p.leads(ctx, top, n)
	switch {
	case err != nil:
		return err
	case on && a.Height-b.Height > 1 && p.agreed[pair] != tips:
		// Its look may be older than the branch. Here it is waited for: what it has
		// now may contradict blocks that would count otherwise.
		if err := n.Check(ctx); err != nil {
			return err
		}
		if v := n.Seen(); !v.Healthy() || v.Tip.Hash != b.Hash {
			return ErrAgain
		}
		fallthrough
	case on:
		p.agreed[pair] = tips
		return nil
	}
	if !fresh[top.Node] || !fresh[n.Node] {
		for _, one := range []*Node{top.Node, n.Node} {
			if err := one.Check(ctx); err != nil {
				return err
			}
			fresh[one] = true
		}
		return ErrAgain
	}
	p.Disputed = fmt.Sprintf("Nodes %d and %d of %d disagree: they have different blocks at height %d. Nothing is counted until they "+
		"agree again. If that takes longer than a few minutes, find out which of them is on the wrong chain, and stop it.",
		min(top.Number, n.Number), max(top.Number, n.Number), len(p.members), b.Height)
	return fmt.Errorf("%w (%s: %d %s, %s: %d %s)", chain.Problem(p.Disputed), top.Host, a.Height, a.Hash, n.Host, b.Height, b.Hash)
}

// leads reports whether a node's tip leads down to another's: by the hashes of the
// parents, which headers prove. What the node names at the other's height proves
// nothing: a liar names there what others have, and gives another block later.
// What was proved of an earlier tip is kept, and how far the last walk came, so that
// usually only new headers are read.
func (p *Branching) leads(ctx context.Context, top, n *Member) (bool, error) {
	tip, block, pair := top.Seen().Tip, n.Seen().Tip, [2]int{top.Number, n.Number}
	if p.counted(block) && tip.Height-block.Height > chain.KeptBlocks {
		return false, p.unshown(top, n, true)
	}
	within, cancel := context.WithTimeout(ctx, p.Pace.Most)
	defer cancel()
	h, before := tip, p.walks[pair]
	defer func() { p.walks[pair] = walk{tip.Hash, h} }()
	for read := 0; h.Height > block.Height; read++ {
		if h.Parent == block.Hash || p.agreed[pair] == [2]string{h.Hash, block.Hash} {
			return true, nil
		}
		if h.Hash == before.from && before.to.Height >= block.Height && before.to.Height < h.Height {
			h = before.to
			continue
		}
		parent, err := top.parent(within, h)
		switch {
		case err == nil:
			h = parent
		case ctx.Err() != nil:
			return false, ctx.Err()
		case within.Err() != nil:
			return false, p.unshown(top, n, read == 0 || p.counted(block))
		default:
			top.fail(err)
			return false, ErrAgain
		}
	}
	return h.Hash == block.Hash, nil
}

// counted reports whether a node that has a block as its last has what was counted so far.
func (p *Branching) counted(block chain.Header) bool {
	return p.last.Hash != "" && block.Height >= p.last.Height-1
}

// unshown is what is done when a node doesn't show in time that its tip leads to that of
// another one. Where that one has all that was counted so far, or nothing at all is
// shown, the node is as good as one that doesn't answer. Else either may be the one that
// lies: a false tip, far below, takes the true chain as long to show. Then none is
// believed before it is shown; the next choice goes on where this one ended.
func (p *Branching) unshown(top, n *Member, leave bool) error {
	a, b := top.Seen().Tip, n.Seen().Tip
	if leave {
		top.bar(Troubled(nil, "names block %d as its last, and doesn't show in time how that follows block %d, which another one has. "+
			"Check its software; if that stays, use another one.", a.Height, b.Height))
		return ErrAgain
	}
	p.Disputed = fmt.Sprintf("%s names block %d as its last, and doesn't show in time how that follows block %d of node %d. Nothing is counted until it does. "+
		"If that takes longer than a few minutes, find out which of them is wrong, and stop it.", top.name(), a.Height, b.Height, n.Number)
	return fmt.Errorf("%w (%s: %s, %s: %s)", chain.Problem(p.Disputed), top.Host, a.Hash, n.Host, b.Hash)
}
