package xrpl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/node"
)

// Nodes checks every server now and returns their status in the configured order.
func (s *Source) Nodes(ctx context.Context) []chain.NodeStatus {
	s.nodes.CheckAll(ctx)
	inUse, _, _ := s.chooseServer(ctx) // errors are part of the views and the dispute
	all := s.nodes.Statuses()
	for i, n := range s.servers {
		if owed := n.confirmFailure(); owed != nil && all[i].Problem == "" {
			all[i].Problem = n.ProblemSentence(owed)
		}
	}
	if inUse != nil {
		all[inUse.Number-1].InUse = true
	}
	return all
}

// chooseServer returns the server to use and the last ledger that counts. This is the highest
// ledger that two healthy servers have, so that no single server can make a payment final. If only
// one server is configured or healthy, it is trusted alone. Validated ledgers never change, so if
// two servers have different ledgers at one index, at least one of them is wrong and none is
// trusted.
func (s *Source) chooseServer(ctx context.Context) (*server, chain.Header, error) {
	s.nodes.ChoiceMu.Lock()
	defer s.nodes.ChoiceMu.Unlock()
	for range 3 {
		if err := s.nodes.RefreshViews(ctx, map[*node.Node]bool{}); err != nil {
			return nil, chain.Header{}, err
		}
		n, tip, err := s.pickServer(ctx)
		switch {
		case errors.Is(err, node.ErrAgain):
			continue
		case err != nil:
			s.nodes.Chosen = nil
			return nil, chain.Header{}, err
		case n == nil && s.nodes.Chosen != nil:
			s.nodes.Chosen = nil // the other servers were not waited for
			continue
		case n == nil:
			return nil, chain.Header{}, s.nodes.NoUsableNodeError()
		}
		s.nodes.Chosen = n.Node
		return n, tip, nil
	}
	s.nodes.Chosen = nil
	return nil, chain.Header{}, s.nodes.UnstableError()
}

// pickServer compares the healthy servers and returns the one to use with the tip.
func (s *Source) pickServer(ctx context.Context) (*server, chain.Header, error) {
	var well []*server
	for _, n := range s.servers {
		if n.LastView().Healthy() {
			well = append(well, n)
		}
	}
	if len(well) == 0 {
		return nil, chain.Header{}, nil
	}
	// The highest server comes first; servers of equal height keep the configured order.
	byHeight := slices.Clone(well)
	slices.SortStableFunc(byHeight, func(a, b *server) int {
		return int(b.LastView().Tip.Height - a.LastView().Tip.Height)
	})
	for _, n := range byHeight[1:] {
		if err := s.compareTips(ctx, byHeight[0], n); err != nil {
			return nil, chain.Header{}, err
		}
	}
	s.nodes.Dispute = ""
	tip := byHeight[min(1, len(byHeight)-1)].LastView().Tip
	var best *server
	for _, n := range well {
		if n.LastView().Tip.Height >= tip.Height && (best == nil || s.isPreferred(n, best)) {
			best = n
		}
	}
	return best, tip, nil
}

// isPreferred reports whether a server is preferred to another one that comes before it in the
// configuration.
func (s *Source) isPreferred(n, other *server) bool {
	if a, b := n.DemotedUntil(), other.DemotedUntil(); !a.Equal(b) {
		return a.Before(b)
	}
	return n.Node == s.nodes.Chosen
}

// compareTips checks that the higher of two servers has the last ledger of the lower one. If the
// ledgers differ, both servers are checked once more before the difference is a dispute.
func (s *Source) compareTips(ctx context.Context, top, n *server) error {
	for again := false; ; again = true {
		mine, err := s.fetchToCompare(ctx, top, n.LastView().Tip.Height)
		if err != nil {
			return err
		}
		theirs := n.LastView().Tip
		if mine.Hash == theirs.Hash {
			return nil
		}
		if again {
			return s.recordDispute(top, n, theirs.Height)
		}
		for _, one := range []*server{top, n} {
			one.dropHeaders()
			if err := one.Check(ctx); err != nil {
				return err
			}
		}
		if !top.LastView().Healthy() || !n.LastView().Healthy() || top.LastView().Tip.Height < n.LastView().Tip.Height {
			return node.ErrAgain
		}
	}
}

// recordDispute stores that two servers contradict each other.
func (s *Source) recordDispute(a, b *server, index int64) error {
	s.nodes.Dispute = fmt.Sprintf("Servers %d and %d of %d disagree about ledger %d, which never changes once it is "+
		"validated. Nothing is counted until they agree again: find out which of them is wrong, and remove it.",
		min(a.Number, b.Number),
		max(a.Number, b.Number), len(s.servers), index)
	return fmt.Errorf("%w (%s, %s)", chain.Problem(s.nodes.Dispute), a.Host, b.Host)
}

// fetchToCompare asks a server for a header to compare with the header of another server.
func (s *Source) fetchToCompare(ctx context.Context, n *server, index int64) (h chain.Header, err error) {
	err = s.nodes.CompareNode(ctx, n.Node, func(ctx context.Context) error {
		if h, err = n.fetchHeader(ctx, index); errors.Is(err, errNoLedger) {
			return missingLedgerError(index, err)
		}
		return err
	})
	return h, err
}
