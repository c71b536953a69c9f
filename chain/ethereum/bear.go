package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

// sentOn is what contracts sent on in a block, in an order that doesn't depend on how
// it was read. A transfer's place isn't part of it: what came, and by which
// transaction, is the same where nodes count the calls before it differently.
func sentOn(block chain.Block) (all []string) {
	for _, t := range block.Transfers {
		if t.Index >= placeInner {
			all = append(all, fmt.Sprint(t.TxID, " ", t.Asset, " ", t.Address, " ", t.Amount))
		}
	}
	slices.Sort(all)
	return all
}

// bearsOut reports whether the node shows the same of what contracts sent on in a
// block as it was read from another: by running the block again, or, where it can't,
// by what the addresses gained with the block.
func (n *server) bearsOut(ctx context.Context, block *fullBlock, read chain.Block, watch chain.Watch) (bool, error) {
	out, sent := &reader{token: account(n.params.Token), watch: watch}, sentOn(read)
	err := n.inner(ctx, out, block)
	if err == nil {
		return slices.Equal(sent, sentOn(chain.Block{Transfers: out.found})), nil
	}
	if len(sent) == 0 {
		return false, err
	}
	return n.gained(ctx, block, read)
}

// gained reports whether each address to which contracts sent ether in a block gained
// at least all the ether that was read to come to it there. One that spends some in
// the block itself may have gained less, and so may one with code, whose ether
// anybody's transaction can move: of those nothing is known.
func (n *server) gained(ctx context.Context, block *fullBlock, read chain.Block) (bool, error) {
	due, addresses := incomes(block, read)
	height := int64(block.Number)
	questions := []question{ask("eth_getBlockByNumber", hexNumber(height), false)}
	for _, address := range addresses {
		questions = append(questions, ask("eth_getBalance", address, hexNumber(height-1)), ask("eth_getBalance", address, hexNumber(height)),
			ask("eth_getCode", address, hexNumber(height)))
	}
	replies, err := n.all(ctx, maxBlock, questions...)
	if err != nil {
		return false, err
	}
	if now, err := n.there(replies[0], height); err != nil || now.Hash != block.Hash.String() {
		return false, lacks(height, errors.Join(err, fmt.Errorf("block %s is at its height", now.Hash)))
	}
	for i, r := 0, replies[1:]; i < len(addresses); i, r = i+1, r[3:] {
		var before, after wei
		var code blob
		if err := errors.Join(r[0].into(&before), r[1].into(&after), r[2].into(&code)); err != nil {
			return false, node.Troubled(err, "neither runs block %d again nor has the balances before and after it, so it can't tell what contracts sent on there. "+
				"Let it keep the state of the last blocks, or use another node.", height)
		}
		if gain := after.amount().Sub(before.amount()); len(code) == 0 && gain.Cmp(due[addresses[i]]) < 0 {
			return false, nil
		}
	}
	return true, nil
}

// incomes is all the ether that came by a block to the addresses to which contracts
// sent some, but for those that send a transaction in it.
func incomes(block *fullBlock, read chain.Block) (due map[string]money.Amount, addresses []string) {
	senders := map[account]bool{}
	for i := range block.Transactions {
		senders[block.Transactions[i].From] = true
	}
	due = map[string]money.Amount{}
	for _, t := range read.Transfers {
		if t.Asset == string(money.ETH) && !t.Reverted {
			due[t.Address] = due[t.Address].Add(t.Amount)
		}
		if t.Index < placeInner || slices.Contains(addresses, t.Address) {
			continue
		}
		if raw := (codec{}).Address(t.Address); !senders[account(raw)] {
			addresses = append(addresses, t.Address)
		}
	}
	return due, addresses
}
