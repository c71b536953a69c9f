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

// witness has another server, if one is well, confirm a ledger: its header always,
// and what it brings when it brings something, as a header's hash proves nothing
// of transactions in JSON. A server that can't tell is left out.
func (s *Source) witness(ctx context.Context, from *server, block chain.Block, watch chain.Watch) error {
	for _, n := range s.servers {
		v := n.seen()
		if n == from || !v.healthy() || !v.has(block.Height) {
			continue
		}
		err := s.confirm(ctx, from, n, block, watch)
		if err == nil || isDispute(err) || ctx.Err() != nil {
			return err
		}
		_ = n.blame(ctx, err) // the next one, or nobody, confirms
	}
	return nil
}

func (s *Source) confirm(ctx context.Context, from, n *server, block chain.Block, watch chain.Watch) error {
	header, err := n.headerAt(ctx, block.Height)
	if err != nil {
		return err
	}
	if header != block.Header {
		from.distrust()
		n.distrust()
		return disagreement{contradicted}
	}
	if len(block.Transfers) == 0 {
		return nil
	}
	theirs, err := n.blockAt(ctx, block.Height, watch)
	if err != nil || reflect.DeepEqual(theirs.Transfers, block.Transfers) {
		return err
	}
	// More may be watched than a moment ago: the first one is asked once more.
	mine, err := from.blockAt(ctx, block.Height, watch)
	if err != nil || reflect.DeepEqual(theirs.Transfers, mine.Transfers) {
		return err
	}
	return disagreement{contradicted}
}
