package tron

import (
	"context"

	"cointill/chain"
)

var _ chain.TransactionFinder = (*Source)(nil)

// FindTransaction implements chain.TransactionFinder.
func (s *Source) FindTransaction(ctx context.Context, id string, watch chain.Watch) (chain.Block, error) {
	name, err := readHash(id)
	if err != nil {
		return chain.Block{}, chain.ErrTransactionID
	}
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	var found info
	err = n.postInto(ctx, maxInfoResponse, "/wallet/gettransactioninfobyid",
		map[string]any{"value": name.String()}, &found)
	switch {
	case err != nil:
		return chain.Block{}, n.DemoteOnError(ctx, err)
	case found.ID != name || found.Number < 1: // an empty object, if no block holds it
		return chain.Block{}, chain.ErrNoTransaction
	case found.Number > tip.Height:
		return chain.Block{}, chain.ErrUnconfirmed
	}
	block, err := (&view{s, n, tip}).Block(ctx, found.Number, watch)
	return block.KeepTransaction(name.String()), err
}
