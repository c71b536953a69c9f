package xrpl

import (
	"context"
	"errors"
	"reflect"

	"cointill/chain"
)

// disagreement is what two servers that are well say differently.
type disagreement struct{ chain.Problem }

// Unwrap lets people read the sentence.
func (d disagreement) Unwrap() error { return d.Problem }

func isDispute(err error) bool {
	var d disagreement
	return errors.As(err, &d)
}

// contradicted is the disagreement's sentence.
const contradicted = "Two servers disagree about what a validated ledger holds, and nothing of it is counted. If that stays, " +
	"find out which of them is wrong, and remove it."

// witness has another server, if one is well, read a ledger too, and returns it as
// both read it: a header's hash proves nothing of transactions in JSON, and what one
// server invents or hides the other doesn't. A server that can't tell is left out.
func (s *Source) witness(ctx context.Context, from *server, block chain.Block, watch chain.Watch) (chain.Block, error) {
	for _, n := range s.servers {
		if n == from || !n.Seen().Healthy() || !n.has(block.Height) {
			continue
		}
		confirmed, err := confirm(ctx, from, n, block, watch)
		if err == nil || isDispute(err) || ctx.Err() != nil {
			return confirmed, err
		}
		_ = n.Blame(ctx, err) // the next one, or nobody, confirms
	}
	return block, nil
}

func confirm(ctx context.Context, from, n *server, block chain.Block, watch chain.Watch) (chain.Block, error) {
	theirs, err := n.blockAt(ctx, block.Height, watch)
	if err != nil || reflect.DeepEqual(theirs, block) {
		return block, err
	}
	// More may be watched than a moment ago: the first one is asked once more.
	again, err := from.blockAt(ctx, block.Height, watch)
	if err != nil || !reflect.DeepEqual(again, theirs) {
		from.distrust()
		n.distrust()
		return block, disagreement{contradicted}
	}
	return theirs, nil
}
