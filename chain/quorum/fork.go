package quorum

import (
	"context"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/node"
)

// lagLimit is the number of blocks behind the highest node from which on a node is left out.
const lagLimit = 3

// ForkAdapter is the adapter's side of a node of a network whose chain may fork at its end.
type ForkAdapter interface {
	Adapter
	// ReadParent reads the parent of a header and verifies its hash, and its work where the header holds
	// the proof.
	ReadParent(ctx context.Context, h chain.Header) (chain.Header, error)
}

// NewForkPool makes a pool of a network whose chain may fork at its end. It uses no node while two healthy
// nodes are on different branches, and leaves out nodes that lag. It keeps the chosen node while that
// lacks at most one block.
func NewForkPool[N ForkAdapter](c node.Config) *Pool[N] {
	p := &Pool[N]{pool: &pool{Config: c, Timing: DefaultTiming}}
	p.rule = &forks{pool: p.pool, provenDescents: map[[2]int][2]string{}, headerWalks: map[[2]int]headerWalk{}}
	return p
}

// forks is the rule of a chain that may fork at its end. ChoiceMu guards its fields. The keys of both
// maps are numbers of two nodes.
type forks struct {
	*pool
	provenDescents map[[2]int][2]string  // a tip of the first node, and its proven ancestor: a tip of the second
	headerWalks    map[[2]int]headerWalk // how far headers below the first node's tip were read
	lastTip        chain.Header          // the tip of the last choice
}

// headerWalk records how far down from a tip headers were read, so that the next walk continues
// there.
type headerWalk struct {
	from string // hash of the tip
	to   chain.Header
}

// FindProblem returns the problem of a node that lags.
func (p *forks) FindProblem(n *Node) error {
	lacks := maxHeight(p.healthyNodes()) - n.LastView().Tip.Height
	if lacks < lagLimit {
		return nil
	}
	return n.WrapProblem(node.NewFailure(nil, "is %d blocks behind the others, and is left out. Check its connections "+
		"to other nodes.", lacks))
}

// maxHeight returns the greatest tip height of nodes.
func maxHeight(nodes []*Node) (height int64) {
	for _, n := range nodes {
		height = max(height, n.LastView().Tip.Height)
	}
	return height
}

// PickBest returns the best node that doesn't lag, and its tip. A node with a running check is not
// returned, but its last view still counts against the other nodes.
func (p *forks) PickBest(ctx context.Context, fresh map[*Node]bool) (best *Node, tip chain.Header, err error) {
	healthy := p.healthyNodes()
	var ready []*Node
	for _, n := range healthy {
		if fresh[n] || !n.IsChecking() {
			ready = append(ready, n)
		}
	}
	highest := maxHeight(ready)
	var highestNode *Node
	for _, n := range ready {
		if n.LastView().Tip.Height == highest && (highestNode == nil || n == p.Chosen) {
			highestNode = n
		}
	}
	for _, n := range healthy {
		if highestNode == nil || n == highestNode || n.LastView().Tip.Height > highest {
			continue
		}
		if err := p.compareBranches(ctx, highestNode, n, fresh); err != nil {
			return nil, chain.Header{}, err
		}
	}
	p.Dispute = ""
	for _, n := range ready {
		if lagging := highest-n.LastView().Tip.Height >= lagLimit; lagging != n.lagging {
			n.lagging = lagging
			p.Log.Info("a node fell behind the others, or caught up", "network", p.Network, "host", n.Host,
				"left_out", lagging)
		}
		if !n.lagging && (best == nil || p.isPreferred(n, best, highest)) {
			best = n
		}
	}
	if best != nil {
		tip = best.LastView().Tip
		if fresh[best] {
			p.lastTip = tip
		}
	}
	return best, tip, nil
}

// demotionAgainst returns until when a node is asked only after another one. A single failed
// question does not demote a node below a node that lacks blocks: the lower node may lack a block
// that is counted already, and asking it would stop the coin for no reason.
func demotionAgainst(n, other *Node) time.Time {
	if n.failedOnce() && n.LastView().Tip.Height > other.LastView().Tip.Height {
		return time.Time{}
	}
	return n.DemotedUntil()
}

// isPreferred reports whether a node is asked before another one that precedes it in the
// configuration.
func (p *forks) isPreferred(n, other *Node, highest int64) bool {
	if a, b := demotionAgainst(n, other), demotionAgainst(other, n); !a.Equal(b) {
		return a.Before(b)
	}
	isNearTip := func(n *Node) bool { return n == p.Chosen && highest-n.LastView().Tip.Height <= 1 }
	if isNearTip(n) || isNearTip(other) {
		return isNearTip(n)
	}
	return n.LastView().Tip.Height > other.LastView().Tip.Height
}

// compareBranches verifies that two nodes are on one chain. They are when the tip of the lower node
// is on the chain of the higher one: the lower node lags. They are as well when their tips have the
// same parent: two blocks compete for the end, and either gives one confirmation. In every other
// case the higher branch is at least two blocks past the common ancestor, however short the other
// branch is, and the pool can't know which one is right. Both nodes are checked again. If the
// difference stays, neither is used, so that nothing becomes final on a branch that a healthy node
// contradicts.
//
// Two honest nodes differ in this way, too, when one of them receives the block that decides a
// race, or a reorganisation, some seconds before the other. This dispute ends when the other node
// receives the block, and no money is counted meanwhile.
//
// One case can't be detected: a node whose tip is the block where a false branch begins looks like
// a node that lags, until its own next block. So a branch that is two blocks or more past the tip
// of another node counts only after this node was checked once more.
func (p *forks) compareBranches(ctx context.Context, top, n *Node, fresh map[*Node]bool) error {
	a, b := top.LastView().Tip, n.LastView().Tip
	if a.Hash == b.Hash || a.Height == b.Height && a.Parent == b.Parent {
		return nil
	}
	pair, tips := [2]int{top.Number, n.Number}, [2]string{a.Hash, b.Hash}
	ahead, err := p.isAhead(ctx, top, n)
	switch {
	case err != nil:
		return err
	case ahead && a.Height-b.Height > 1 && p.provenDescents[pair] != tips:
		// The last check of this node may be older than the branch. Here the check is waited for:
		// its new tip may contradict blocks that would count otherwise.
		if err := n.Check(ctx); err != nil {
			return err
		}
		if v := n.LastView(); !v.Healthy() || v.Tip.Hash != b.Hash {
			return errAgain
		}
		fallthrough
	case ahead:
		p.provenDescents[pair] = tips
		return nil
	}
	if !fresh[top] || !fresh[n] {
		for _, one := range []*Node{top, n} {
			if err := one.Check(ctx); err != nil {
				return err
			}
			fresh[one] = true
		}
		return errAgain
	}
	return p.recordDispute(top.DescribeDisagreement(n, fmt.Sprintf(": they have different blocks at height %d. "+
		"Nothing is counted until they agree again. If that takes longer than a few minutes, find out which of them "+
		"is on the wrong chain, and stop it.", b.Height), a.BlockID, b.BlockID))
}

// isAhead reports whether a node's tip descends from another node's tip. It follows the parent
// hashes of the headers, which prove the descent. The hash that the node reports for the other
// tip's height proves nothing: a dishonest node reports the common block there and serves another
// one later. Proven descents and the end of the last walk are kept, so that usually only new
// headers are read.
func (p *forks) isAhead(ctx context.Context, top, n *Node) (bool, error) {
	tip, block, pair := top.LastView().Tip, n.LastView().Tip, [2]int{top.Number, n.Number}
	if p.coversCounted(block) && tip.Height-block.Height > p.Network.KeptBlocks() {
		return false, p.unprovenAncestor(top, n, true)
	}
	within, cancel := context.WithTimeout(ctx, p.Timing.CheckTimeout)
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
		parent, err := top.adapter.(ForkAdapter).ReadParent(within, h)
		switch {
		case err == nil:
			h = parent
		case ctx.Err() != nil:
			return false, ctx.Err()
		case within.Err() != nil:
			return false, p.unprovenAncestor(top, n, read == 0 || p.coversCounted(block))
		default:
			top.markFailed(err)
			return false, errAgain
		}
	}
	return h.Hash == block.Hash, nil
}

// coversCounted reports whether a node with this tip has every block that was counted so far.
func (p *forks) coversCounted(block chain.Header) bool {
	return p.lastTip.Hash != "" && block.Height >= p.lastTip.Height-1
}

// unprovenAncestor handles a node that doesn't prove in time that its tip descends from another
// node's tip. If the other node has every block that was counted so far, or no header came at all,
// the node is quarantined like one that doesn't answer. Otherwise either node may be dishonest: a
// false tip far below makes the true chain need as long for its proof. Then neither is used before
// the proof is complete, and the next choice continues the walk.
func (p *forks) unprovenAncestor(top, n *Node, quarantine bool) error {
	a, b := top.LastView().Tip, n.LastView().Tip
	if quarantine {
		top.quarantine(node.NewFailure(nil, "names block %d as its last, and doesn't show in time how that follows "+
			"block %d, which another one has. Check its software; if that stays, use another one.", a.Height, b.Height))
		return errAgain
	}
	return p.recordDispute(&Problem{chain.Problem(fmt.Sprintf("%s names block %d as its last, and doesn't show in "+
		"time how that follows block %d of node %d. Nothing is counted until it does. If that takes longer than a few "+
		"minutes, find out which of them is wrong, and stop it.", top.displayName(), a.Height, b.Height, n.Number)),
		fmt.Sprintf("%s: %s, %s: %s", top.Host, a.Hash, n.Host, b.Hash), false})
}
