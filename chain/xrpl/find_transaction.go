package xrpl

import (
	"context"
	"strings"

	"cointill/chain"
)

var _ chain.TransactionFinder = (*Source)(nil)

// codeNoTransaction is the error of a transaction that a server doesn't have.
const codeNoTransaction = "txnNotFound"

// txResult is the answer to the command tx. Its transfers are read from the ledger, which is verified.
type txResult struct {
	apiError
	LedgerIndex int64 `json:"ledger_index"`
	Validated   bool  `json:"validated"`
}

// FindTransaction implements chain.TransactionFinder.
func (s *Source) FindTransaction(ctx context.Context, id string, watch chain.Watch) (chain.Block, error) {
	id = strings.ToUpper(id)
	if !isHash(id) {
		return chain.Block{}, chain.ErrTransactionID
	}
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	found, err := callCommand(ctx, n.rpc, maxSmallResponse, "tx", map[string]any{"transaction": id},
		func() *txResult { return new(txResult) })
	switch {
	case hasCode(err, codeNoTransaction):
		return chain.Block{}, chain.ErrNoTransaction
	case err != nil:
		return chain.Block{}, n.DemoteOnError(ctx, err)
	case !found.Validated || found.LedgerIndex > tip.Height:
		return chain.Block{}, chain.ErrUnconfirmed
	}
	block, err := (&view{s, n, tip.Height}).Block(ctx, found.LedgerIndex, watch)
	return block.KeepTransaction(id), err
}
