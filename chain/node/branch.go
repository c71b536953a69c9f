package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
)

// lagLimit is how many blocks a node may lack before it is left out.
const lagLimit = 3

// Branching is a pool of a network whose chain may branch at its end: it finds the
// node to ask, and believes none while two that are well are on different branches.
type Branching struct {
	*Pool
	members        []*Member
	provenDescents map[[2]int][2]string  // by pairs of nodes: a tip of the first, and one of the second that it leads to; guarded by the choice of a node
	headerWalks    map[[2]int]headerWalk // by the same pairs: how far the first was asked for what its tip leads to; guarded likewise
	lastTip        chain.Header          // the tip of the last choice; guarded likewise
}

// headerWalk is how far down from a tip headers were read.
type headerWalk struct {
	from string // the tip
	to   chain.Header
}

// Member is one node of such a network.
type Member struct {
	*Node
	readParent func(ctx context.Context, h chain.Header) (chain.Header, error)
	lagging    bool // left out for being behind; guarded by the choice of a node
}

// NewBranching makes a pool without nodes.
func NewBranching(c Config) *Branching {
	return &Branching{Pool: NewPool(c), provenDescents: map[[2]int][2]string{}, headerWalks: map[[2]int]headerWalk{}}
}

// Join adds a node, before anything is asked. Parent reads the header before
// another from it, and proves what can be proved of that.
func (p *Branching) Join(host string, subject Subject, readParent func(ctx context.Context, h chain.Header) (chain.Header, error)) *Node {
	n := p.Add(host, subject)
	p.members = append(p.members, &Member{Node: n, readParent: readParent})
	return n
}

// Nodes looks at every node now and tells how each does, in the configured order.
func (p *Branching) Nodes(ctx context.Context) []chain.NodeStatus {
	p.CheckAll(ctx)
	inUse, _, _ := p.Choose(ctx) // what is wrong is in the views and the dispute
	all, highest := p.Statuses(), maxHealthyHeight(p.members)
	for i, n := range p.members {
		all[i].InUse = n == inUse
		if lacks := highest - n.Seen().Tip.Height; all[i].Problem == "" && lacks >= lagLimit {
			all[i].Problem = n.Sentence(n.Problem(Troubled(nil, "is %d blocks behind the others, and is left out. Check its connections to other nodes.", lacks)))
		}
	}
	return all
}

// maxHealthyHeight is the greatest height of the healthy nodes.
func maxHealthyHeight(members []*Member) (height int64) {
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
		waitedForAll := p.Chosen == nil // were waited for
		p.Chosen = nil
		switch {
		case err != nil:
			return nil, chain.Header{}, err
		case n == nil && waitedForAll:
			return nil, chain.Header{}, p.Nobody()
		case n == nil:
			continue
		}
		if p.Chosen = n.Node; fresh[n.Node] {
			p.lastTip = n.Seen().Tip
			return n, p.lastTip, nil
		}
	}
	p.Chosen = nil
	return nil, chain.Header{}, p.Unstable()
}

// Pick compares the nodes that are well and gives the best that can be asked; nil
// when there is none. One that is being looked at is not asked, but what it
// showed last still counts against what others show. The caller holds Choosing.
func (p *Branching) Pick(ctx context.Context, fresh map[*Node]bool) (*Member, error) {
	var healthy, ready []*Member
	for _, n := range p.members {
		if !n.Seen().Healthy() {
			continue
		}
		healthy = append(healthy, n)
		if fresh[n.Node] || !n.Busy() {
			ready = append(ready, n)
		}
	}
	highest := maxHealthyHeight(ready)
	var highestNode *Member
	for _, n := range ready {
		if n.Seen().Tip.Height == highest && (highestNode == nil || n.Node == p.Chosen) {
			highestNode = n
		}
	}
	for _, n := range healthy {
		if highestNode == nil || n == highestNode || n.Seen().Tip.Height > highest {
			continue
		}
		if err := p.compareBranches(ctx, highestNode, n, fresh); err != nil {
			return nil, err
		}
	}
	p.Disputed = ""
	var best *Member
	for _, n := range ready {
		if lagging := highest-n.Seen().Tip.Height >= lagLimit; lagging != n.lagging {
			n.lagging = lagging
			p.Log.Info("a node fell behind the others, or caught up", "network", p.Network, "host", n.Host, "left_out", lagging)
		}
		if !n.lagging && (best == nil || p.isPreferred(n, best, highest)) {
			best = n
		}
	}
	return best, nil
}

// demotionAgainst is until when a node is asked after another one. One question that it failed
// puts it after no node that lacks a block which it has: that one may lack what is
// counted already, and would stop the coin for nothing.
func demotionAgainst(n, other *Member) time.Time {
	if n.failedOnce() && n.Seen().Tip.Height > other.Seen().Tip.Height {
		return time.Time{}
	}
	return n.Shunned()
}

// isPreferred reports whether a node is to be asked rather than another that comes
// before it in the configuration.
func (p *Branching) isPreferred(n, other *Member, highest int64) bool {
	if a, b := demotionAgainst(n, other), demotionAgainst(other, n); !a.Equal(b) {
		return a.Before(b)
	}
	isNearTip := func(n *Member) bool { return n.Node == p.Chosen && highest-n.Seen().Tip.Height <= 1 }
	if isNearTip(n) || isNearTip(other) {
		return isNearTip(n)
	}
	return n.Seen().Tip.Height > other.Seen().Tip.Height
}

// compareBranches makes sure that two nodes are on one chain. They are when the lower
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
func (p *Branching) compareBranches(ctx context.Context, top, n *Member, fresh map[*Node]bool) error {
	a, b := top.Seen().Tip, n.Seen().Tip
	if a.Hash == b.Hash || a.Height == b.Height && a.Parent == b.Parent {
		return nil
	}
	pair, tips := [2]int{top.Number, n.Number}, [2]string{a.Hash, b.Hash}
	ahead, err := p.isAhead(ctx, top, n)
	switch {
	case err != nil:
		return err
	case ahead && a.Height-b.Height > 1 && p.provenDescents[pair] != tips:
		// Its look may be older than the branch. Here it is waited for: what it has
		// now may contradict blocks that would count otherwise.
		if err := n.Check(ctx); err != nil {
			return err
		}
		if v := n.Seen(); !v.Healthy() || v.Tip.Hash != b.Hash {
			return ErrAgain
		}
		fallthrough
	case ahead:
		p.provenDescents[pair] = tips
		return nil
	}
	if !fresh[top.Node] || !fresh[n.Node] {
		for _, node := range []*Node{top.Node, n.Node} {
			if err := node.Check(ctx); err != nil {
				return err
			}
			fresh[node] = true
		}
		return ErrAgain
	}
	p.Disputed = fmt.Sprintf("Nodes %d and %d of %d disagree: they have different blocks at height %d. Nothing is counted until they "+
		"agree again. If that takes longer than a few minutes, find out which of them is on the wrong chain, and stop it.",
		min(top.Number, n.Number), max(top.Number, n.Number), len(p.members), b.Height)
	return fmt.Errorf("%w (%s: %d %s, %s: %d %s)", chain.Problem(p.Disputed), top.Host, a.Height, a.Hash, n.Host, b.Height, b.Hash)
}

// isAhead reports whether a node's tip leads down to another's: by the hashes of the
// parents, which headers prove. What the node names at the other's height proves
// nothing: a liar names there what others have, and gives another block later.
// What was proved of an earlier tip is kept, and how far the last walk came, so that
// usually only new headers are read.
func (p *Branching) isAhead(ctx context.Context, top, n *Member) (bool, error) {
	tip, block, pair := top.Seen().Tip, n.Seen().Tip, [2]int{top.Number, n.Number}
	if p.coversCounted(block) && tip.Height-block.Height > chain.KeptBlocks {
		return false, p.unprovenAncestor(top, n, true)
	}
	within, cancel := context.WithTimeout(ctx, p.Pace.Most)
	defer cancel()
	h, before := tip, p.headerWalks[pair]
	defer func() { p.headerWalks[pair] = headerWalk{tip.Hash, h} }()
	for read := 0; h.Height > block.Height; read++ {
		if h.Parent == block.Hash || p.provenDescents[pair] == [2]string{h.Hash, block.Hash} {
			return true, nil
		}
		if h.Hash == before.from && before.to.Height >= block.Height && before.to.Height < h.Height {
			h = before.to
			continue
		}
		parent, err := top.readParent(within, h)
		switch {
		case err == nil:
			h = parent
		case ctx.Err() != nil:
			return false, ctx.Err()
		case within.Err() != nil:
			return false, p.unprovenAncestor(top, n, read == 0 || p.coversCounted(block))
		default:
			top.markFailed(err)
			return false, ErrAgain
		}
	}
	return h.Hash == block.Hash, nil
}

// coversCounted reports whether a node that has a block as its last has what was counted so far.
func (p *Branching) coversCounted(block chain.Header) bool {
	return p.lastTip.Hash != "" && block.Height >= p.lastTip.Height-1
}

// unprovenAncestor is what is done when a node doesn't show in time that its tip leads to that of
// another one. Where that one has all that was counted so far, or nothing at all is
// shown, the node is as good as one that doesn't answer. Else either may be the one that
// lies: a false tip, far below, takes the true chain as long to show. Then none is
// believed before it is shown; the next choice goes on where this one ended.
func (p *Branching) unprovenAncestor(top, n *Member, quarantine bool) error {
	a, b := top.Seen().Tip, n.Seen().Tip
	if quarantine {
		top.quarantine(Troubled(nil, "names block %d as its last, and doesn't show in time how that follows block %d, which another one has. "+
			"Check its software; if that stays, use another one.", a.Height, b.Height))
		return ErrAgain
	}
	p.Disputed = fmt.Sprintf("%s names block %d as its last, and doesn't show in time how that follows block %d of node %d. Nothing is counted until it does. "+
		"If that takes longer than a few minutes, find out which of them is wrong, and stop it.", top.displayName(), a.Height, b.Height, n.Number)
	return fmt.Errorf("%w (%s: %s, %s: %s)", chain.Problem(p.Disputed), top.Host, a.Hash, n.Host, b.Hash)
}
