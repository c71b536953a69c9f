package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// Balances returns the balances of addresses in wei after the block at a height, in the order of
// the addresses. Two nodes must agree on them. A node that cannot answer is skipped; if only one
// node can answer, its answer is used. Balances returns chain.ErrForgotten if no node keeps the
// state of that block any more, and a chain.Problem while two nodes disagree. Notes then contains
// the same sentence.
func (s *Source) Balances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	view, err := s.currentView(ctx, height)
	if err != nil {
		return nil, err
	}
	held, err := quorum.Agree(ctx, append([]*server{view.node}, s.nodes.HealthyOthers(view.node.Node)...),
		func(n *server) ([]money.Amount, error) { return n.fetchBalances(ctx, height, addresses) },
		func(a, b []money.Amount) bool {
			return slices.EqualFunc(a, b, func(a, b money.Amount) bool { return a.Cmp(b) == 0 })
		},
		func(a, b *server) error { return balanceDisputeError(a, b, height) })
	if err != nil {
		return nil, err
	}
	for _, n := range s.nodes.Members {
		n.setBalanceDispute("")
	}
	return held, nil
}

// fetchBalances asks one node for the balances of addresses after the block at a height.
func (n *server) fetchBalances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	requests := make([]rpc.Request, len(addresses))
	for i, address := range addresses {
		requests[i] = rpc.NewRequest("eth_getBalance", address, encodeHeight(height))
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.DemoteOnError(ctx, err)
	}
	held := make([]money.Amount, len(responses))
	for i, r := range responses {
		switch {
		case r.Error != nil && r.Error.IsPruned():
			return nil, errors.Join(chain.ErrForgotten, r.Error)
		case r.Error != nil:
			return nil, rpc.RefusedError(r.Error) // no DemoteOnError: the node still reads blocks, which needs no balances
		}
		var amount wei
		if err := r.DecodeInto(&amount); err != nil {
			return nil, n.DemoteOnError(ctx, asRefusal(err))
		}
		held[i] = amount.ToAmount()
	}
	return held, nil
}

// balanceDisputeError returns the error for two nodes that report different balances after a
// block. It does not stop the reading of blocks, so it is shown among the notes of the network.
func balanceDisputeError(n, other *server, height int64) error {
	err := n.DescribeDisagreement(other.Node, fmt.Sprintf(" about the balances after block %d. Ether sent by "+
		"contracts is not searched for by balances until they agree. If that takes longer than a few minutes, find "+
		"out which of them is wrong, and stop it.", height))
	n.setBalanceDispute(n.ProblemSentence(err))
	other.setBalanceDispute(n.ProblemSentence(err))
	return err
}

// setBalanceDispute stores how the node contradicts another one about balances. An empty sentence
// clears it.
func (n *server) setBalanceDispute(sentence string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.balanceDispute = sentence
}

// balanceDisputeNote returns the first dispute between nodes about balances, or "".
func (s *Source) balanceDisputeNote() (sentence string) {
	for _, n := range s.nodes.Members {
		n.mu.Lock()
		sentence = cmp.Or(sentence, n.balanceDispute)
		n.mu.Unlock()
	}
	return sentence
}

// Inner returns the block at a height with the ether that contracts sent within its transactions.
// The first node that can trace the block is used, and another one confirms the result like any
// other block. Inner returns chain.ErrForgotten if no node can trace the block, and a
// chain.Problem while two nodes disagree about it.
func (s *Source) Inner(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	view, err := s.currentView(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
	var failed error
	for _, n := range append([]*server{view.node}, s.nodes.HealthyOthers(view.node.Node)...) {
		block, err := n.fetchBlock(ctx, height, watch, true)
		var answer *rpc.Error
		switch {
		case ctx.Err() != nil:
			return chain.Block{}, ctx.Err()
		case errors.Is(err, errMissingBlock), errors.As(err, &answer) && answer.IsNoMethod():
			continue
		case err != nil:
			failed = cmp.Or(failed, err) // no DemoteOnError: no other call needs traces from this node
			continue
		}
		if err := s.confirmBlock(ctx, n, block, watch, true); err != nil {
			return chain.Block{}, err
		}
		return block, nil
	}
	return chain.Block{}, cmp.Or(failed, chain.ErrForgotten)
}
