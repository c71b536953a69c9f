package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
)

// behind is how many blocks a node may lack before it is left out.
const behind = 3

// NodeStatus is how one node does, for operators.
type NodeStatus = chain.NodeStatus

// Nodes looks at every node now and tells how each does, in the configured order.
func (s *Source) Nodes(ctx context.Context) []NodeStatus {
	var looks sync.WaitGroup
	for _, n := range s.nodes {
		looks.Go(func() { _ = n.check(ctx) }) // the end of the context: what was seen before is told
	}
	looks.Wait()
	inUse, _, _ := s.choose(ctx) // what is wrong is in the views and the dispute
	s.choosing.Lock()
	disputed := s.disputed
	s.choosing.Unlock()
	highest := s.highest(s.nodes)
	all := make([]NodeStatus, len(s.nodes))
	for i, n := range s.nodes {
		v := n.seen()
		st := NodeStatus{Host: n.host, Dialect: v.dialect, Version: v.version, Height: v.tip.Height, Hash: v.tip.Hash,
			InUse: n == inUse, Problem: sentenceOf(v.err)}
		switch {
		case v.at.IsZero():
			st.Problem = "The node wasn't reached in time."
		case st.Problem == "" && disputed != "":
			st.Problem = disputed
		case st.Problem == "" && highest-v.tip.Height >= behind:
			st.Problem = sentenceOf(n.lagging(highest))
		}
		all[i] = st
	}
	return all
}

// highest is the greatest height of the healthy nodes.
func (s *Source) highest(nodes []*node) (height int64) {
	for _, n := range nodes {
		if v := n.seen(); v.healthy() {
			height = max(height, v.tip.Height)
		}
	}
	return height
}

func (n *node) lagging(highest int64) error {
	return n.problem(troubled(nil, "is %d blocks behind the others, and is left out. Check its connections to other nodes.",
		highest-n.seen().tip.Height))
}

// errAgain asks for another round of looking and comparing.
var errAgain = errors.New("look again")

// choose finds the node to ask: one that was looked at after the call began, is
// well, agrees with all others that are, and isn't behind them. It stays with the
// last one while that lacks at most one block.
func (s *Source) choose(ctx context.Context) (*node, chain.Header, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	fresh := map[*node]bool{}
	for range 4 * len(s.nodes) { // each round looks at a node anew, or ends
		if err := s.look(ctx, fresh); err != nil {
			return nil, chain.Header{}, err
		}
		n, err := s.pick(ctx, fresh)
		switch {
		case errors.Is(err, errAgain):
			continue
		case err != nil:
			s.chosen = nil
			return nil, chain.Header{}, err
		case n == nil && len(fresh) == len(s.nodes):
			s.chosen = nil
			return nil, chain.Header{}, s.nobody()
		}
		if s.chosen = n; n != nil && fresh[n] {
			return n, n.seen().tip, nil
		}
	}
	s.chosen = nil
	return nil, chain.Header{}, chain.Problem("The nodes change too fast to be compared. They are asked again.")
}

// look looks at the chosen node, or at all when there is none, and waits for
// them. Others whose look is too old are looked at, too, but hold nothing up
// for longer than a moment: what hangs shall not slow down what works.
func (s *Source) look(ctx context.Context, fresh map[*node]bool) error {
	var waited sync.WaitGroup
	var later []<-chan struct{}
	for _, n := range s.nodes {
		v := n.seen()
		age, old := s.clock().Sub(v.at), s.pace.moment
		if v.err != nil {
			old = s.pace.pause
		}
		switch {
		case fresh[n]:
		case n == s.chosen || s.chosen == nil || v.at.IsZero():
			fresh[n] = true
			waited.Go(func() { _ = n.check(ctx) }) // the context's end is looked at below
		case age >= old:
			later = append(later, n.checkLater(ctx, s.pace.most))
		}
	}
	waited.Wait()
	if len(later) == 0 {
		return ctx.Err()
	}
	grace := time.NewTimer(s.pace.grace)
	defer grace.Stop()
	for _, ended := range later {
		select {
		case <-ended:
		case <-grace.C:
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// pick compares the nodes that are well and gives the best that can be asked; nil
// when there is none. One that is being looked at is not asked, but what it
// showed last still counts against what others show.
func (s *Source) pick(ctx context.Context, fresh map[*node]bool) (*node, error) {
	var well, ready []*node
	for _, n := range s.nodes {
		if !n.seen().healthy() {
			continue
		}
		well = append(well, n)
		if fresh[n] || !n.busy() {
			ready = append(ready, n)
		}
	}
	highest := s.highest(ready)
	var top *node
	for _, n := range ready {
		if n.seen().tip.Height == highest && (top == nil || n == s.chosen) {
			top = n
		}
	}
	for _, n := range well {
		if top == nil || n == top || n.seen().tip.Height > highest {
			continue
		}
		if err := s.compare(ctx, top, n, fresh); err != nil {
			return nil, err
		}
	}
	s.disputed = ""
	var best *node
	for _, n := range ready {
		if late := highest-n.seen().tip.Height >= behind; late != n.late {
			n.late = late
			s.log.Info("a node fell behind the others, or caught up", "network", s.params.Network(), "host", n.host, "left_out", late)
		}
		if !n.late && (best == nil || s.better(n, best, highest)) {
			best = n
		}
	}
	return best, nil
}

// better reports whether a node is to be asked rather than another that comes
// before it in the configuration.
func (s *Source) better(n, other *node, highest int64) bool {
	if a, b := n.shunnedAt(), other.shunnedAt(); !a.Equal(b) {
		return a.Before(b)
	}
	near := func(n *node) bool { return n == s.chosen && highest-n.seen().tip.Height <= 1 }
	if near(n) || near(other) {
		return near(n)
	}
	return n.seen().tip.Height > other.seen().tip.Height
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
func (s *Source) compare(ctx context.Context, top, n *node, fresh map[*node]bool) error {
	a, b := top.seen().tip, n.seen().tip
	if a.Hash == b.Hash || a.Height == b.Height && a.Parent == b.Parent {
		return nil
	}
	pair, tips := [2]int{top.number, n.number}, [2]string{a.Hash, b.Hash}
	on, err := s.leads(ctx, top, b, s.agreed[pair])
	switch {
	case err != nil:
		return err
	case on && a.Height-b.Height > 1 && s.agreed[pair] != tips:
		// Its look may be older than the branch. Here it is waited for: what it has
		// now may contradict blocks that would count otherwise.
		if err := s.again(ctx, n); err != nil {
			return err
		}
		if v := n.seen(); !v.healthy() || v.tip.Hash != b.Hash {
			return errAgain
		}
		fallthrough
	case on:
		s.agreed[pair] = tips
		return nil
	}
	if !fresh[top] || !fresh[n] {
		for _, one := range []*node{top, n} {
			if err := s.again(ctx, one); err != nil {
				return err
			}
			fresh[one] = true
		}
		return errAgain
	}
	s.disputed = fmt.Sprintf("Nodes %d and %d of %d disagree: they have different blocks at height %d. Nothing is counted until they "+
		"agree again. If that takes longer than a few minutes, find out which of them is on the wrong chain, and stop it.",
		min(top.number, n.number), max(top.number, n.number), n.of, b.Height)
	return fmt.Errorf("%w (%s: %d %s, %s: %d %s)", chain.Problem(s.disputed), top.host, a.Height, a.Hash, n.host, b.Height, b.Hash)
}

// again looks at a node anew and waits for it, though not for ever.
func (s *Source) again(ctx context.Context, n *node) error {
	within, cancel := context.WithTimeout(ctx, s.pace.most)
	defer cancel()
	if n.check(within) != nil && ctx.Err() == nil {
		n.note(view{err: n.problem(silent(s.pace.most))})
	}
	return ctx.Err()
}

// leads reports whether a node's tip leads down to a block: by the hashes of the
// parents, which headers prove. What the node names at the block's height proves
// nothing: a liar names there what others have, and gives another block later.
// Proved is a tip, and the block that it is known to lead to, so that usually
// only new headers are read.
func (s *Source) leads(ctx context.Context, n *node, block chain.Header, proved [2]string) (bool, error) {
	for h := n.seen().tip; h.Height > block.Height; {
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

// parent asks a node for the header before another. One that can't tell is not
// asked any more until it was looked at anew.
func (s *Source) parent(ctx context.Context, n *node, h chain.Header) (chain.Header, error) {
	within, cancel := context.WithTimeout(ctx, s.pace.most)
	defer cancel()
	parent, err := n.headerOf(within, h.Height-1, h.Parent)
	switch {
	case err == nil:
		return parent, nil
	case ctx.Err() != nil:
		return chain.Header{}, ctx.Err()
	}
	n.note(view{err: n.problem(err)})
	return chain.Header{}, errAgain
}

// nobody is the problem when no node can be used.
func (s *Source) nobody() error {
	if len(s.nodes) == 1 {
		return s.nodes[0].seen().err
	}
	text, causes := "No node can be used.", make([]error, 0, len(s.nodes))
	for _, n := range s.nodes {
		if err := n.seen().err; err != nil {
			text += " " + sentenceOf(err)
			causes = append(causes, err)
		}
	}
	return fmt.Errorf("%w (%w)", chain.Problem(text), errors.Join(causes...))
}
