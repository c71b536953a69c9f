package ethereum

import (
	"context"
	"errors"
	"strings"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/hexjson"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/ethereum/signing"
)

var (
	_ chain.TransactionFinder = (*Source)(nil)
	_ chain.BatchSigner       = (*Source)(nil)
)

// FindTransaction implements chain.TransactionFinder. A transaction that shows no transfer by itself is
// traced, as a contract may have sent ether.
func (s *Source) FindTransaction(ctx context.Context, id string, watch chain.Watch) (chain.Block, error) {
	name, err := hexjson.ReadHash(strings.ToLower(id))
	if err != nil {
		return chain.Block{}, chain.ErrTransactionID
	}
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	answer, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_getTransactionByHash", name.String()))
	if err != nil {
		return chain.Block{}, n.DemoteOnError(ctx, err)
	}
	if answer.Error == nil && answer.IsNull() {
		return chain.Block{}, chain.ErrNoTransaction
	}
	var found struct {
		Number *quantity `json:"blockNumber"` // null before a block holds it
	}
	if err := answer.DecodeInto(&found); err != nil {
		return chain.Block{}, n.DemoteOnError(ctx, asRefusal(err))
	}
	if found.Number == nil || int64(*found.Number) > tip.Height {
		return chain.Block{}, chain.ErrUnconfirmed
	}
	height := int64(*found.Number)
	block, err := (&view{s, n, tip.Height}).Block(ctx, height, watch)
	if err != nil {
		return chain.Block{}, err
	}
	if block = block.KeepTransaction(name.String()); len(block.Transfers) > 0 {
		return block, nil
	}
	traced, err := s.Inner(ctx, height, watch)
	if errors.Is(err, chain.ErrForgotten) { // no node can trace it
		return block, nil
	}
	return traced.KeepTransaction(name.String()), err
}

// IsContract implements chain.BatchSigner.
func (s *Source) IsContract(ctx context.Context, account string) (bool, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return false, err
	}
	answer, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_getCode", account, "latest"))
	if err != nil {
		return false, n.DemoteOnError(ctx, err)
	}
	var code hexBytes
	if err := answer.DecodeInto(&code); err != nil {
		return false, n.DemoteOnError(ctx, asRefusal(err))
	}
	return isContract(code), nil
}

// isContract reports that code is a contract's. An account that delegates to one keeps its key.
func isContract(code hexBytes) bool { return len(code) > 0 && !isDelegated(code) }

// isDelegated reports that code names the contract to which an account delegates (EIP-7702).
func isDelegated(code hexBytes) bool {
	return len(code) == 23 && code[0] == 0xef && code[1] == 0x01 && code[2] == 0
}

// BuildBatch implements chain.BatchSigner with a file for the Transaction Builder of a Safe.
func (s *Source) BuildBatch(orders []chain.Order, created time.Time) (chain.SigningFile, error) {
	payments := make([]signing.Payment, len(orders))
	for i, o := range orders {
		payments[i] = s.joinTerms(o, signing.Terms{})
	}
	content, err := signing.SafeBatch(payments, created)
	return chain.SigningFile{Name: "safe.json", Type: "application/json", Content: content}, err
}
