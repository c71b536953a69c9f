package quorum

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/node"
)

// LedgerAdapter is the adapter's side of a server of a network whose ledgers never change once they are
// validated.
type LedgerAdapter interface {
	Adapter
	// ReadHeader reads the header of a validated ledger and verifies its hash.
	ReadHeader(ctx context.Context, index int64) (chain.Header, error)
}

// NewLedgerPool makes a pool of a network whose ledgers never change. The end of the chain is the highest
// ledger that two healthy servers have, so that no single server can make a payment final. If only
// one server is configured or healthy, it is trusted alone. If two servers have different ledgers at
// one index, at least one of them is wrong and none is trusted.
func NewLedgerPool[N LedgerAdapter](c node.Config) *Pool[N] {
	p := &Pool[N]{pool: &pool{Config: c, Timing: DefaultTiming}}
	p.rule = ledgers{p.pool}
	p.Timing.HealthyAge = 0 // each tip is a ledger that two servers have now
	return p
}

// ledgers is the rule of ledgers that never change.
type ledgers struct{ *pool }

// FindProblem returns why a server didn't confirm a ledger.
func (p ledgers) FindProblem(n *Node) error { return n.ConfirmFailure() }

// PickBest returns the preferred server that has the last ledger that counts.
func (p ledgers) PickBest(ctx context.Context, fresh map[*Node]bool) (best *Node, tip chain.Header, err error) {
	healthy := p.healthyNodes()
	if len(healthy) == 0 {
		return nil, chain.Header{}, nil
	}
	// The highest server comes first; servers of equal height keep the configured order.
	byHeight := slices.Clone(healthy)
	slices.SortStableFunc(byHeight, func(a, b *Node) int {
		return cmp.Compare(b.LastView().Tip.Height, a.LastView().Tip.Height)
	})
	for _, n := range byHeight[1:] {
		if err := p.compareTips(ctx, byHeight[0], n); err != nil {
			clear(fresh) // the next round checks again
			return nil, chain.Header{}, err
		}
	}
	p.Dispute = ""
	tip = byHeight[min(1, len(byHeight)-1)].LastView().Tip
	for _, n := range healthy {
		demoted := n.DemotedUntil()
		if n.LastView().Tip.Height >= tip.Height && (best == nil || demoted.Before(best.DemotedUntil()) ||
			demoted.Equal(best.DemotedUntil()) && n == p.Chosen) {
			best = n
		}
	}
	return best, tip, nil
}

// compareTips checks that the higher of two servers has the last ledger of the lower one. If the
// ledgers differ, both servers are checked once more before the difference is a dispute.
func (p ledgers) compareTips(ctx context.Context, top, n *Node) error {
	for again := false; ; again = true {
		theirs := n.LastView().Tip
		var mine chain.Header
		err := p.CompareNode(ctx, top, func(ctx context.Context) (err error) {
			mine, err = top.adapter.(LedgerAdapter).ReadHeader(ctx, theirs.Height)
			return err
		})
		switch {
		case err != nil:
			return err
		case mine.Hash == theirs.Hash:
			return nil
		case again:
			return p.recordDispute(top.DescribeDisagreement(n, fmt.Sprintf(" about ledger %d, which never changes "+
				"once it is validated. Nothing is counted until they agree again: find out which of them is wrong, "+
				"and remove it.", theirs.Height), mine.Hash, theirs.Hash))
		}
		for _, one := range []*Node{top, n} {
			one.adapter.Forget()
			if err := one.Check(ctx); err != nil {
				return err
			}
		}
		if !top.LastView().Healthy() || !n.LastView().Healthy() || top.LastView().Tip.Height < n.LastView().Tip.Height {
			return errAgain
		}
	}
}
