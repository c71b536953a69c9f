package xrpl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cointill/chain"
	"cointill/chain/node"
)

// confirmationError says that no other server confirmed a ledger, although another one is healthy.
// The ledger is then not counted, whichever server read it.
type confirmationError struct {
	chain.Problem
	transient bool
}

// Transient reports whether the error may be gone when the ledger is read once more.
func (d confirmationError) Transient() bool { return d.transient }

// Unwrap gives access to the sentence for users.
func (d confirmationError) Unwrap() error { return d.Problem }

func isConfirmationError(err error) bool {
	var d confirmationError
	return errors.As(err, &d)
}

// disagreementText is the sentence for two healthy servers that show different ledgers.
const disagreementText = "Two servers disagree about the content of a validated ledger, and nothing in it is " +
	"counted. If this continues, find out which of them is wrong, and remove it."

// confirmBlock has another server read the same ledger, and returns the block that both agree on.
// The header's hash does not prove transactions in JSON, so this detects a server that invents or
// hides one. If any other server reports itself healthy, one of them must confirm the ledger. A
// server cannot avoid this by not answering.
func (s *Source) confirmBlock(ctx context.Context, from *server, block chain.Block,
	watch chain.Watch) (chain.Block, error) {
	others := s.confirmingServers(from, block.Height)
	var silent []string
	var causes []error
	for i, n := range others {
		confirmed, err := compareBlocks(ctx, from, n, block, watch)
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return chain.Block{}, ctx.Err()
		case ctx.Err() != nil:
			err = ctx.Err() // the answer was too slow for the request's timeout
		case err == nil || isConfirmationError(err):
			for _, one := range others[i:] {
				one.recordConfirmation(nil) // the servers after it are not needed
			}
			return confirmed, err
		}
		err = n.DemoteOnError(ctx, n.unconfirmedError(block.Height, err))
		n.recordConfirmation(err)
		silent, causes = append(silent, n.ProblemSentence(err)), append(causes, err)
		if ctx.Err() != nil {
			break // no time is left for the other servers
		}
	}
	if len(others) == 0 {
		return block, nil // the only healthy server is trusted alone
	}
	return chain.Block{},
		confirmationError{chain.Problem(fmt.Sprintf("Only server %d of %d shows ledger %d, and no second one "+
			"confirms it. Nothing is counted until one does; they are asked again. If this continues, repair the one "+
			"that doesn't, or remove it from the configuration. %s",
			from.Number, len(s.servers), block.Height, strings.Join(silent, " "))), node.AreTransient(causes)}
}

// confirmingServers returns the servers that can confirm a ledger. Servers that reported to have
// it come first.
func (s *Source) confirmingServers(from *server, index int64) []*server {
	var all, without []*server
	for _, n := range s.servers {
		switch {
		case n == from || !n.isReportedHealthy():
		case n.hasLedger(index):
			all = append(all, n)
		default:
			without = append(without, n)
		}
	}
	return append(all, without...)
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

func compareBlocks(ctx context.Context, from, n *server, block chain.Block, watch chain.Watch) (chain.Block, error) {
	theirs, err := n.fetchBlock(ctx, block.Height, watch)
	if err != nil || reflect.DeepEqual(theirs, block) {
		return block, err
	}
	// More addresses may be watched than a moment ago, so the first server is asked once more.
	again, err := from.fetchBlock(ctx, block.Height, watch)
	if err != nil || !reflect.DeepEqual(again, theirs) {
		from.dropHeaders()
		n.dropHeaders()
		return block, confirmationError{Problem: disagreementText}
	}
	return theirs, nil
}
