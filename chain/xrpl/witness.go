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

// confirmationError is why a ledger that a server read is not believed, whichever server is
// asked next: another one that is well says something else, or nothing.
type confirmationError struct {
	chain.Problem
	passing bool
}

// Passing reports whether it may be gone when the ledger is read once more.
func (d confirmationError) Passing() bool { return d.passing }

// Unwrap lets people read the sentence.
func (d confirmationError) Unwrap() error { return d.Problem }

func isConfirmationError(err error) bool {
	var d confirmationError
	return errors.As(err, &d)
}

// disagreementText is the sentence when two servers that are well differ.
const disagreementText = "Two servers disagree about what a validated ledger holds, and nothing of it is counted. If that stays, " +
	"find out which of them is wrong, and remove it."

// confirmBlock has another server read a ledger too, and returns it as both read it: a
// header's hash proves nothing of transactions in JSON, and what one server invents
// or hides the other doesn't. While another server is well by what it says of
// itself, one of them must confirm the ledger: not to answer is no way to be left out.
func (s *Source) confirmBlock(ctx context.Context, from *server, block chain.Block, watch chain.Watch) (chain.Block, error) {
	others := s.confirmingServers(from, block.Height)
	var silent []string
	var causes []error
	for i, n := range others {
		confirmed, err := compareBlocks(ctx, from, n, block, watch)
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return chain.Block{}, ctx.Err()
		case ctx.Err() != nil:
			err = ctx.Err() // it dripped until the question's time was over
		case err == nil || isConfirmationError(err):
			for _, one := range others[i:] {
				one.recordConfirmation(nil) // those after it are not needed
			}
			return confirmed, err
		}
		err = n.Blame(ctx, n.unconfirmedError(block.Height, err))
		n.recordConfirmation(err)
		silent, causes = append(silent, n.Sentence(err)), append(causes, err)
		if ctx.Err() != nil {
			break // the others had no time
		}
	}
	if len(others) == 0 {
		return block, nil // the only one that is well is believed alone
	}
	return chain.Block{}, confirmationError{chain.Problem(fmt.Sprintf("Only server %d of %d says what ledger %d holds, and no second one confirms it. Nothing is counted until "+
		"one does; they are asked again. If that stays, mend the one that doesn't, or take it out of the setting. %s",
		from.Number, len(s.servers), block.Height, strings.Join(silent, " "))), node.Passing(causes)}
}

// confirmingServers are the servers that can confirm a ledger, those first that said that
// they have it.
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

// unconfirmedError is why a server didn't say what a ledger holds, in words.
func (s *server) unconfirmedError(index int64, err error) error {
	var told *node.Trouble
	switch {
	case errors.Is(err, errNoLedger):
		return missingLedgerError(index, err)
	case errors.As(err, &told):
		return err
	}
	return node.Troubled(err, "doesn't say what ledger %d holds. Look into its log.", index)
}

// missingLedgerError is a server without a ledger that another one has.
func missingLedgerError(index int64, err error) error {
	return node.Troubled(err, "doesn't have ledger %d, which others validated. Check its history (ledger_history), and wait until it is complete.", index)
}

func compareBlocks(ctx context.Context, from, n *server, block chain.Block, watch chain.Watch) (chain.Block, error) {
	theirs, err := n.fetchBlock(ctx, block.Height, watch)
	if err != nil || reflect.DeepEqual(theirs, block) {
		return block, err
	}
	// More may be watched than a moment ago: the first one is asked once more.
	again, err := from.fetchBlock(ctx, block.Height, watch)
	if err != nil || !reflect.DeepEqual(again, theirs) {
		from.dropHeaders()
		n.dropHeaders()
		return block, confirmationError{Problem: disagreementText}
	}
	return theirs, nil
}
