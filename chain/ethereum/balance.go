package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/core/money"
)

// Balances are what addresses hold in wei after the block at a height, in their
// order, as two nodes say: one that can't tell contradicts nobody, and where only one
// can, that one is believed. chain.ErrForgotten where none keeps that any more; a chain.Problem,
// of which Notes tell, while two say different things.
func (s *Source) Balances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	asked, err := s.serverForHeight(ctx, height)
	if err != nil {
		return nil, err
	}
	var first *server
	var held []money.Amount
	var failed error
	for _, n := range append([]*server{asked}, s.healthyOthers(asked)...) {
		said, err := n.fetchBalances(ctx, height, addresses)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failed = cmp.Or(failed, err)
			continue
		case first == nil:
			first, held = n, said
			continue
		case !slices.EqualFunc(held, said, func(a, b money.Amount) bool { return a.Cmp(b) == 0 }):
			return nil, s.balanceDisputeError(first, n, height)
		}
		break
	}
	if first == nil {
		return nil, failed
	}
	for _, n := range s.servers {
		n.setBalanceDispute("")
	}
	return held, nil
}

// fetchBalances are what addresses hold after the block at a height as one node says.
func (n *server) fetchBalances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	requests := make([]request, len(addresses))
	for i, address := range addresses {
		requests[i] = newRequest("eth_getBalance", address, encodeHeight(height))
	}
	responses, err := n.callAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.Blame(ctx, err)
	}
	held := make([]money.Amount, len(responses))
	for i, r := range responses {
		switch {
		case r.Error != nil && r.Error.isPruned():
			return nil, errors.Join(chain.ErrForgotten, r.Error)
		case r.Error != nil:
			return nil, refusedError(r.Error) // without blame: blocks are read without balances
		}
		var amount wei
		if err := r.decodeInto(&amount); err != nil {
			return nil, n.Blame(ctx, asRefusal(err))
		}
		held[i] = amount.toAmount()
	}
	return held, nil
}

// balanceDisputeError is the problem of two nodes that have different balances after a block. It
// stops no block, so people read it among what to know of the network.
func (s *Source) balanceDisputeError(n, other *server, height int64) error {
	a, b := min(n.Number, other.Number), max(n.Number, other.Number)
	sentence := fmt.Sprintf("Nodes %d and %d of %d disagree about what addresses held after block %d. Ether that contracts sent on is not looked for by balances until they "+
		"say the same. If that takes longer than a few minutes, find out which of them is wrong, and stop it.", a, b, len(s.servers), height)
	n.setBalanceDispute(sentence)
	other.setBalanceDispute(sentence)
	return fmt.Errorf("%w (%s, %s)", chain.Problem(sentence), n.Host, other.Host)
}

// setBalanceDispute notes how the node contradicts another about balances; "" takes that back.
func (n *server) setBalanceDispute(sentence string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.balanceDispute = sentence
}

// balanceDisputeNote is how nodes contradict each other about balances, or "".
func (s *Source) balanceDisputeNote() (sentence string) {
	for _, n := range s.servers {
		n.mu.Lock()
		sentence = cmp.Or(sentence, n.balanceDispute)
		n.mu.Unlock()
	}
	return sentence
}

// Inner is the block at a height with what contracts sent on within its
// transactions, by the first node that can run it again, and confirmed by another
// like any block. chain.ErrForgotten where none can run it, or not any more; a
// chain.Problem while two nodes tell different things of it.
func (s *Source) Inner(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	asked, err := s.serverForHeight(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
	var failed error
	for _, n := range append([]*server{asked}, s.healthyOthers(asked)...) {
		block, err := n.fetchBlock(ctx, height, watch, true)
		var answer *rpcError
		switch {
		case ctx.Err() != nil:
			return chain.Block{}, ctx.Err()
		case errors.Is(err, errMissingBlock), errors.As(err, &answer) && answer.isNoMethod():
			continue
		case err != nil:
			failed = cmp.Or(failed, err) // the node does well all the same: nobody else asks it for this
			continue
		}
		if err := s.confirmBlock(ctx, n, block, watch, true); err != nil {
			return chain.Block{}, err
		}
		return block, nil
	}
	return chain.Block{}, cmp.Or(failed, chain.ErrForgotten)
}
