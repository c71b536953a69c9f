package xrpl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cointill/chain"
)

// Nodes looks at every server now and tells how each does, in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	var looks sync.WaitGroup
	for _, n := range s.servers {
		looks.Go(func() { _ = n.check(ctx) }) // the end of the context: what was seen before is told
	}
	looks.Wait()
	inUse, _, _ := s.choose(ctx) // what is wrong is in the views and the dispute
	s.choosing.Lock()
	disputed := s.disputed
	s.choosing.Unlock()
	all := make([]chain.NodeStatus, len(s.servers))
	for i, n := range s.servers {
		v := n.seen()
		st := chain.NodeStatus{Host: n.host, Dialect: v.kind, Version: v.version, Height: v.tip.Height, Hash: v.tip.Hash,
			InUse: n == inUse, Problem: sentenceOf(v.err)}
		switch {
		case v.at.IsZero():
			st.Problem = "The server wasn't reached in time."
		case st.Problem == "" && disputed != "":
			st.Problem = disputed
		}
		all[i] = st
	}
	return all
}

// errAgain asks for another round of looking and comparing.
var errAgain = errors.New("look again")

// choose finds the server to ask, and the last ledger that counts: the highest
// that two servers have which are well, so that no single one can make a payment
// final. Where only one is configured or well, it is believed alone. Ledgers that
// were validated never change, so servers that have different ones at the same
// index can't both be right: then none is believed.
func (s *Source) choose(ctx context.Context) (*server, chain.Header, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	for range 3 {
		if err := s.look(ctx); err != nil {
			return nil, chain.Header{}, err
		}
		n, tip, err := s.pick(ctx)
		switch {
		case errors.Is(err, errAgain):
			continue
		case err != nil:
			s.chosen = nil
			return nil, chain.Header{}, err
		case n == nil && s.chosen != nil:
			s.chosen = nil // the others were not waited for
			continue
		case n == nil:
			return nil, chain.Header{}, s.nobody()
		}
		s.chosen = n
		return n, tip, nil
	}
	s.chosen = nil
	return nil, chain.Header{}, chain.Problem("The servers change too fast to be compared. They are asked again.")
}

// look looks at every server that is well or was not looked at for a while. It
// waits for the chosen one, or for all when there is none; the others hold
// nothing up for longer than a moment: what hangs shall not slow down what works.
func (s *Source) look(ctx context.Context) error {
	var waited sync.WaitGroup
	var later []<-chan struct{}
	for _, n := range s.servers {
		v := n.seen()
		switch {
		case n == s.chosen || s.chosen == nil || v.at.IsZero():
			waited.Go(func() { _ = n.check(ctx) }) // the context's end is looked at below
		case v.err == nil || s.clock().Sub(v.at) >= s.pace.pause:
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

// pick compares the servers that are well, and gives the one to ask with the tip.
func (s *Source) pick(ctx context.Context) (*server, chain.Header, error) {
	var well []*server
	for _, n := range s.servers {
		if n.seen().healthy() {
			well = append(well, n)
		}
	}
	if len(well) == 0 {
		return nil, chain.Header{}, nil
	}
	// The highest first; among equals the configured order.
	byHeight := slices.Clone(well)
	slices.SortStableFunc(byHeight, func(a, b *server) int { return int(b.seen().tip.Height - a.seen().tip.Height) })
	for _, n := range byHeight[1:] {
		if err := s.compare(ctx, byHeight[0], n); err != nil {
			return nil, chain.Header{}, err
		}
	}
	s.disputed = ""
	tip := byHeight[min(1, len(byHeight)-1)].seen().tip
	var best *server
	for _, n := range well {
		if n.seen().tip.Height >= tip.Height && (best == nil || s.better(n, best)) {
			best = n
		}
	}
	return best, tip, nil
}

// better reports whether a server is to be asked rather than another that comes
// before it in the configuration.
func (s *Source) better(n, other *server) bool {
	if a, b := n.shunnedAt(), other.shunnedAt(); !a.Equal(b) {
		return a.Before(b)
	}
	return n == s.chosen
}

// compare makes sure that the higher of two servers has the last ledger of the
// lower one. Differing ones are looked at once more before they are a dispute.
func (s *Source) compare(ctx context.Context, top, n *server) error {
	for again := false; ; again = true {
		mine, err := s.headerOf(ctx, top, n.seen().tip.Height)
		if err != nil {
			return err
		}
		theirs := n.seen().tip
		if mine.Hash == theirs.Hash {
			return nil
		}
		if again {
			return s.dispute(top, n, theirs.Height)
		}
		for _, one := range []*server{top, n} {
			one.distrust()
			if err := s.again(ctx, one); err != nil {
				return err
			}
		}
		if !top.seen().healthy() || !n.seen().healthy() || top.seen().tip.Height < n.seen().tip.Height {
			return errAgain
		}
	}
}

// dispute notes that two servers contradict each other.
func (s *Source) dispute(a, b *server, index int64) error {
	s.disputed = fmt.Sprintf("Servers %d and %d of %d disagree about ledger %d, which never changes once it is validated. Nothing is counted until they "+
		"agree again: find out which of them is wrong, and remove it.", min(a.number, b.number), max(a.number, b.number), a.of, index)
	return fmt.Errorf("%w (%s, %s)", chain.Problem(s.disputed), a.host, b.host)
}

// distrust forgets the headers that a server gave.
func (s *server) distrust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.headers)
}

// again looks at a server anew and waits for it, though not for ever.
func (s *Source) again(ctx context.Context, n *server) error {
	within, cancel := context.WithTimeout(ctx, s.pace.most)
	defer cancel()
	if n.check(within) != nil && ctx.Err() == nil {
		n.note(view{err: n.problem(silent(s.pace.most))})
	}
	return ctx.Err()
}

// headerOf asks a server for a header to compare with another's. One that can't
// tell is not asked any more until it was looked at anew.
func (s *Source) headerOf(ctx context.Context, n *server, index int64) (chain.Header, error) {
	within, cancel := context.WithTimeout(ctx, s.pace.most)
	defer cancel()
	h, err := n.headerAt(within, index)
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return chain.Header{}, ctx.Err()
	case errors.Is(err, errNotHere):
		err = troubled(err, "doesn't have ledger %d, which others validated. Check its history (ledger_history), and wait until it is complete.", index)
	}
	n.note(view{err: n.problem(err)})
	return chain.Header{}, errAgain
}

// nobody is the problem when no server can be used.
func (s *Source) nobody() error {
	if len(s.servers) == 1 {
		return s.servers[0].seen().err
	}
	text, causes := "No server can be used.", make([]error, 0, len(s.servers))
	for _, n := range s.servers {
		if err := n.seen().err; err != nil {
			text += " " + sentenceOf(err)
			causes = append(causes, err)
		}
	}
	return fmt.Errorf("%w (%w)", chain.Problem(text), errors.Join(causes...))
}
