package xrpl

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"cointill/chain"
	"cointill/chain/node"
)

// confirmBlock has another server read the same ledger, and returns the block that both agree on.
// The header's hash does not prove transactions in JSON, so this detects a server that invents or
// hides one. If any other server reports itself healthy, one of them must confirm the ledger. A
// server cannot avoid this by not answering. The only healthy server is trusted alone.
func (s *Source) confirmBlock(ctx context.Context, from *server, block chain.Block,
	watch chain.Watch) (confirmed chain.Block, err error) {
	confirmed = block
	failures, err := s.nodes.Confirm(ctx, s.confirmingServers(from, block.Height), func(n *server) error {
		theirs, err := n.fetchBlock(ctx, block.Height, watch)
		if err != nil {
			return n.DemoteOnError(ctx, n.unconfirmedError(block.Height, err))
		}
		confirmed, err = settleDifference(ctx, from, n, [2]chain.Block{block, theirs}, watch)
		return err
	})
	if len(failures) > 0 {
		return chain.Block{}, from.DescribeUnconfirmed(fmt.Sprint("ledger ", block.Height), failures)
	}
	return confirmed, err
}

// settleDifference returns the block that two servers agree on. More addresses may be watched than a
// moment ago, so the first server is asked once more if their blocks differ.
func settleDifference(ctx context.Context, from, n *server, read [2]chain.Block,
	watch chain.Watch) (chain.Block, error) {
	if reflect.DeepEqual(read[0], read[1]) {
		return read[1], nil
	}
	again, err := from.fetchBlock(ctx, read[0].Height, watch)
	if err != nil || !reflect.DeepEqual(again, read[1]) {
		from.Forget()
		n.Forget()
		return chain.Block{}, from.DescribeDisagreement(n.Node, fmt.Sprintf(" about the content of ledger %d, which "+
			"is validated, and nothing in it is counted. If this continues, find out which of them is wrong, and "+
			"remove it.",
			read[0].Height), read[0].Hash)
	}
	return read[1], nil
}

// confirmingServers returns the servers that can confirm a ledger. Servers that reported to have
// it come first.
func (s *Source) confirmingServers(from *server, index int64) (others []*server) {
	for _, n := range s.nodes.Members {
		if n != from && n.isReportedHealthy() {
			others = append(others, n)
		}
	}
	return sortByLedger(others, index)
}

// unconfirmedError returns the error for a server that did not confirm a ledger.
func (s *server) unconfirmedError(index int64, err error) error {
	var told *node.Failure
	switch {
	case errors.Is(err, errNoLedger):
		return missingLedgerError(index, err)
	case errors.As(err, &told):
		return err
	}
	return node.NewFailure(err, "doesn't show ledger %d. Check its log.", index)
}

// missingLedgerError returns the error for a server that lacks a ledger which another one has.
func missingLedgerError(index int64, err error) error {
	return node.NewFailure(err, "doesn't have ledger %d, which others validated. Check its history (ledger_history), "+
		"and wait until it is complete.", index)
}
