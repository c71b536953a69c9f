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
	asked, err := s.at(ctx, height)
	if err != nil {
		return nil, err
	}
	var first *server
	var held []money.Amount
	var failed error
	for _, n := range append([]*server{asked}, s.others(asked)...) {
		said, err := n.balances(ctx, height, addresses)
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
			return nil, s.unequal(first, n, height)
		}
		break
	}
	if first == nil {
		return nil, failed
	}
	for _, n := range s.servers {
		n.doubts("")
	}
	return held, nil
}

// balances are what addresses hold after the block at a height as one node says.
func (n *server) balances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	questions := make([]question, len(addresses))
	for i, address := range addresses {
		questions[i] = ask("eth_getBalance", address, hexNumber(height))
	}
	replies, err := n.all(ctx, smallAnswer, questions...)
	if err != nil {
		return nil, n.Blame(ctx, err)
	}
	held := make([]money.Amount, len(replies))
	for i, r := range replies {
		switch {
		case r.Error != nil && r.Error.pruned():
			return nil, errors.Join(chain.ErrForgotten, r.Error)
		case r.Error != nil:
			return nil, refused(r.Error) // without blame: blocks are read without balances
		}
		var amount wei
		if err := r.into(&amount); err != nil {
			return nil, n.Blame(ctx, fault(err))
		}
		held[i] = amount.amount()
	}
	return held, nil
}

// unequal is the problem of two nodes that have different balances after a block. It
// stops no block, so people read it among what to know of the network.
func (s *Source) unequal(n, other *server, height int64) error {
	a, b := min(n.Number, other.Number), max(n.Number, other.Number)
	sentence := fmt.Sprintf("Nodes %d and %d of %d disagree about what addresses held after block %d. Ether that contracts sent on is not looked for by balances until they "+
		"say the same. If that takes longer than a few minutes, find out which of them is wrong, and stop it.", a, b, len(s.servers), height)
	n.doubts(sentence)
	other.doubts(sentence)
	return fmt.Errorf("%w (%s, %s)", chain.Problem(sentence), n.Host, other.Host)
}

// doubts notes how the node contradicts another about balances; "" takes that back.
func (n *server) doubts(sentence string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.doubt = sentence
}

// doubted is how nodes contradict each other about balances, or "".
func (s *Source) doubted() (sentence string) {
	for _, n := range s.servers {
		n.mu.Lock()
		sentence = cmp.Or(sentence, n.doubt)
		n.mu.Unlock()
	}
	return sentence
}

// Inner is the block at a height with what contracts sent on within its
// transactions, by the first node that can run it again, and confirmed by another
// like any block. chain.ErrForgotten where none can run it, or not any more; a
// chain.Problem while two nodes tell different things of it.
func (s *Source) Inner(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	asked, err := s.at(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
	var failed error
	for _, n := range append([]*server{asked}, s.others(asked)...) {
		block, err := n.blockAt(ctx, height, watch, true)
		var answer *rpcError
		switch {
		case ctx.Err() != nil:
			return chain.Block{}, ctx.Err()
		case errors.Is(err, errLacks), errors.As(err, &answer) && answer.noMethod():
			continue
		case err != nil:
			failed = cmp.Or(failed, err) // the node does well all the same: nobody else asks it for this
			continue
		}
		if err := s.confirm(ctx, n, block, watch, true); err != nil {
			return chain.Block{}, err
		}
		return block, nil
	}
	return chain.Block{}, cmp.Or(failed, chain.ErrForgotten)
}
