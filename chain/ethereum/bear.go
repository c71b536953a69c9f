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

// internalKeys is what contracts sent on in a block, in an order that doesn't depend on how
// it was read. A transfer's place isn't part of it: what came, and by which
// transaction, is the same where nodes count the calls before it differently.
func internalKeys(block chain.Block) (all []string) {
	for _, t := range block.Transfers {
		if t.Index >= indexInternal {
			all = append(all, fmt.Sprint(t.TxID, " ", t.Asset, " ", t.Address, " ", t.Amount))
		}
	}
	slices.Sort(all)
	return all
}

// confirmInternal reports whether the node shows the same of what contracts sent on in a
// block as it was read from another: by running the block again, or, where it can't,
// by what the addresses gained with the block.
func (n *server) confirmInternal(ctx context.Context, block *fullBlock, read chain.Block, watch chain.Watch) (bool, error) {
	out, sent := &transferFinder{token: account(n.params.Token), watch: watch}, internalKeys(read)
	err := n.fetchInternal(ctx, out, block)
	if err == nil {
		return slices.Equal(sent, internalKeys(chain.Block{Transfers: out.transfers})), nil
	}
	if len(sent) == 0 {
		return false, err
	}
	return n.checkBalanceGains(ctx, block, read)
}

// checkBalanceGains reports whether each address to which contracts sent ether in a block gained
// at least all the ether that was read to come to it there. One that spends some in
// the block itself may have gained less, and so may one with code, whose ether
// anybody's transaction can move: of those nothing is known.
func (n *server) checkBalanceGains(ctx context.Context, block *fullBlock, read chain.Block) (bool, error) {
	due, addresses := sumIncomes(block, read)
	height := int64(block.Number)
	requests := []request{newRequest("eth_getBlockByNumber", encodeHeight(height), false)}
	for _, address := range addresses {
		requests = append(requests, newRequest("eth_getBalance", address, encodeHeight(height-1)), newRequest("eth_getBalance", address, encodeHeight(height)),
			newRequest("eth_getCode", address, encodeHeight(height)))
	}
	responses, err := n.callAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return false, err
	}
	if now, err := n.readExistingHeader(responses[0], height); err != nil || now.Hash != block.Hash.String() {
		return false, missingBlockError(height, errors.Join(err, fmt.Errorf("block %s is at its height", now.Hash)))
	}
	for i, r := 0, responses[1:]; i < len(addresses); i, r = i+1, r[3:] {
		var before, after wei
		var code hexBytes
		if err := errors.Join(r[0].decodeInto(&before), r[1].decodeInto(&after), r[2].decodeInto(&code)); err != nil {
			return false, node.Troubled(err, "neither runs block %d again nor has the balances before and after it, so it can't tell what contracts sent on there. "+
				"Let it keep the state of the last blocks, or use another node.", height)
		}
		if gain := after.toAmount().Sub(before.toAmount()); len(code) == 0 && gain.Cmp(due[addresses[i]]) < 0 {
			return false, nil
		}
	}
	return true, nil
}

// sumIncomes is all the ether that came by a block to the addresses to which contracts
// sent some, but for those that send a transaction in it.
func sumIncomes(block *fullBlock, read chain.Block) (due map[string]money.Amount, addresses []string) {
	senders := map[account]bool{}
	for i := range block.Transactions {
		senders[block.Transactions[i].From] = true
	}
	due = map[string]money.Amount{}
	for _, t := range read.Transfers {
		if t.Asset == string(money.ETH) && !t.Reverted {
			due[t.Address] = due[t.Address].Add(t.Amount)
		}
		if t.Index < indexInternal || slices.Contains(addresses, t.Address) {
			continue
		}
		if raw := (codec{}).Address(t.Address); !senders[account(raw)] {
			addresses = append(addresses, t.Address)
		}
	}
	return due, addresses
}
