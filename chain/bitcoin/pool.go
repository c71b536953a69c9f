package bitcoin

import (
	"context"
	"errors"
	"fmt"

	"cointill/chain"
	"cointill/chain/node"
)

// behind is how many blocks a node may lack before it is left out.
const behind = 3

// NodeStatus is how one node does, for operators.
type NodeStatus = chain.NodeStatus

// Nodes looks at every node now and tells how each does, in the configured order.
func (s *Source) Nodes(ctx context.Context) []NodeStatus {
	s.nodes.CheckAll(ctx)
	inUse, _, _ := s.choose(ctx) // what is wrong is in the views and the dispute
	all, highest := s.nodes.Statuses(), highest(s.servers)
	for i, n := range s.servers {
		all[i].InUse = n == inUse
		if lacks := highest - n.Seen().Tip.Height; all[i].Problem == "" && lacks >= behind {
			all[i].Problem = n.Sentence(n.Problem(node.Troubled(nil, "is %d blocks behind the others, and is left out. Check its connections to other nodes.", lacks)))
		}
	}
	return all
}

// highest is the greatest height of the healthy nodes.
func highest(servers []*server) (height int64) {
	for _, n := range servers {
		if v := n.Seen(); v.Healthy() {
			height = max(height, v.Tip.Height)
		}
	}
	return height
}

// choose finds the node to ask: one that was looked at after the call began, is
// well, agrees with all others that are, and isn't behind them. It stays with the
// last one while that lacks at most one block.
func (s *Source) choose(ctx context.Context) (*server, chain.Header, error) {
	s.nodes.Choosing.Lock()
	defer s.nodes.Choosing.Unlock()
	fresh := map[*node.Node]bool{}
	for range 4 * len(s.servers) { // each round looks at a node anew, or ends
		if err := s.nodes.Look(ctx, fresh); err != nil {
			return nil, chain.Header{}, err
		}
		n, err := s.pick(ctx, fresh)
		if errors.Is(err, node.ErrAgain) {
			continue
		}
		s.nodes.Chosen = nil
		switch {
		case err != nil:
			return nil, chain.Header{}, err
		case n == nil && len(fresh) == len(s.servers):
			return nil, chain.Header{}, s.nodes.Nobody()
		case n == nil:
			continue
		}
		if s.nodes.Chosen = n.Node; fresh[n.Node] {
			return n, n.Seen().Tip, nil
		}
	}
	s.nodes.Chosen = nil
	return nil, chain.Header{}, s.nodes.Unstable()
}

// pick compares the nodes that are well and gives the best that can be asked; nil
// when there is none. One that is being looked at is not asked, but what it
// showed last still counts against what others show.
func (s *Source) pick(ctx context.Context, fresh map[*node.Node]bool) (*server, error) {
	var well, ready []*server
	for _, n := range s.servers {
		if !n.Seen().Healthy() {
			continue
		}
		well = append(well, n)
		if fresh[n.Node] || !n.Busy() {
			ready = append(ready, n)
		}
	}
	highest := highest(ready)
	var top *server
	for _, n := range ready {
		if n.Seen().Tip.Height == highest && (top == nil || n.Node == s.nodes.Chosen) {
			top = n
		}
	}
	for _, n := range well {
		if top == nil || n == top || n.Seen().Tip.Height > highest {
			continue
		}
		if err := s.compare(ctx, top, n, fresh); err != nil {
			return nil, err
		}
	}
	s.nodes.Disputed = ""
	var best *server
	for _, n := range ready {
		if late := highest-n.Seen().Tip.Height >= behind; late != n.late {
			n.late = late
			s.log.Info("a node fell behind the others, or caught up", "network", s.params.Network(), "host", n.Host, "left_out", late)
		}
		if !n.late && (best == nil || s.better(n, best, highest)) {
			best = n
		}
	}
	return best, nil
}

// better reports whether a node is to be asked rather than another that comes
// before it in the configuration.
func (s *Source) better(n, other *server, highest int64) bool {
	if a, b := n.Shunned(), other.Shunned(); !a.Equal(b) {
		return a.Before(b)
	}
	near := func(n *server) bool { return n.Node == s.nodes.Chosen && highest-n.Seen().Tip.Height <= 1 }
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
func (s *Source) compare(ctx context.Context, top, n *server, fresh map[*node.Node]bool) error {
	a, b := top.Seen().Tip, n.Seen().Tip
	if a.Hash == b.Hash || a.Height == b.Height && a.Parent == b.Parent {
		return nil
	}
	pair, tips := [2]int{top.Number, n.Number}, [2]string{a.Hash, b.Hash}
	on, err := s.leads(ctx, top, b, s.agreed[pair])
	switch {
	case err != nil:
		return err
	case on && a.Height-b.Height > 1 && s.agreed[pair] != tips:
		// Its look may be older than the branch. Here it is waited for: what it has
		// now may contradict blocks that would count otherwise.
		if err := s.nodes.Again(ctx, n.Node); err != nil {
			return err
		}
		if v := n.Seen(); !v.Healthy() || v.Tip.Hash != b.Hash {
			return node.ErrAgain
		}
		fallthrough
	case on:
		s.agreed[pair] = tips
		return nil
	}
	if !fresh[top.Node] || !fresh[n.Node] {
		for _, one := range []*node.Node{top.Node, n.Node} {
			if err := s.nodes.Again(ctx, one); err != nil {
				return err
			}
			fresh[one] = true
		}
		return node.ErrAgain
	}
	s.nodes.Disputed = fmt.Sprintf("Nodes %d and %d of %d disagree: they have different blocks at height %d. Nothing is counted until they "+
		"agree again. If that takes longer than a few minutes, find out which of them is on the wrong chain, and stop it.",
		min(top.Number, n.Number), max(top.Number, n.Number), len(s.servers), b.Height)
	return fmt.Errorf("%w (%s: %d %s, %s: %d %s)", chain.Problem(s.nodes.Disputed), top.Host, a.Height, a.Hash, n.Host, b.Height, b.Hash)
}

// leads reports whether a node's tip leads down to a block: by the hashes of the
// parents, which headers prove. What the node names at the block's height proves
// nothing: a liar names there what others have, and gives another block later.
// Proved is a tip, and the block that it is known to lead to, so that usually
// only new headers are read.
func (s *Source) leads(ctx context.Context, n *server, block chain.Header, proved [2]string) (bool, error) {
	for h := n.Seen().Tip; h.Height > block.Height; {
		if h.Parent == block.Hash || proved == [2]string{h.Hash, block.Hash} {
			return true, nil
		}
		parent, err := s.parent(ctx, n, h)
		if err != nil {
			return false, err
		}
		h = parent
	}
	return false, nil
}

// parent asks a node for the header before another.
func (s *Source) parent(ctx context.Context, n *server, h chain.Header) (parent chain.Header, err error) {
	err = s.nodes.Compare(ctx, n.Node, func(ctx context.Context) error {
		parent, err = n.headerOf(ctx, h.Height-1, h.Parent)
		return err
	})
	return parent, err
}
