package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/core/money"
)

// internalKeys lists the internal transfers of a block in an order that does not depend on how the
// block was read. The index of a transfer is left out, because nodes may count the calls before it
// differently.
func internalKeys(block chain.Block) (all []string) {
	for _, t := range block.Transfers {
		if t.Index >= indexInternal {
			all = append(all, fmt.Sprint(t.TxID, " ", t.Asset, " ", t.From, t.Address, " ", t.Amount))
		}
	}
	slices.Sort(all)
	return all
}

// confirmInternal reports whether the node shows the same internal transfers in a block as another
// node did. It traces the block, or compares the balances of the recipients before and after the
// block if it cannot trace.
func (n *server) confirmInternal(ctx context.Context, block *fullBlock, read chain.Block,
	watch chain.Watch) (bool, error) {
	out, sent := n.newFinder(watch), internalKeys(read)
	err := n.fetchInternal(ctx, out, block)
	if err == nil {
		return slices.Equal(sent, internalKeys(chain.Block{Transfers: out.transfers})), nil
	}
	if len(sent) == 0 {
		return false, err
	}
	return n.checkBalanceGains(ctx, block, read)
}

// checkBalanceGains reports whether each recipient of an internal transfer gained at least all the
// ether that the other node reported for it in the block. Two kinds of recipients are skipped
// because their balance may have fallen in the same block: accounts that send a transaction in it,
// and contracts, whose ether any transaction can move.
func (n *server) checkBalanceGains(ctx context.Context, block *fullBlock, read chain.Block) (bool, error) {
	due, addresses := sumIncomes(block, read)
	height := int64(block.Number)
	requests := []rpc.Request{rpc.NewRequest("eth_getBlockByNumber", encodeHeight(height), false)}
	for _, address := range addresses {
		requests = append(requests, rpc.NewRequest("eth_getBalance", address, encodeHeight(height-1)),
			rpc.NewRequest("eth_getBalance", address, encodeHeight(height)),
			rpc.NewRequest("eth_getCode", address, encodeHeight(height)))
	}
	responses, err := n.CallAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return false, err
	}
	if now, err := n.readExistingHeader(responses[0], height); err != nil || now.Hash != block.Hash.String() {
		return false, missingBlockError(height, errors.Join(err, fmt.Errorf("block %s is at its height", now.Hash)))
	}
	for i, r := 0, responses[1:]; i < len(addresses); i, r = i+1, r[3:] {
		var before, after wei
		var code hexBytes
		if err := errors.Join(r[0].DecodeInto(&before), r[1].DecodeInto(&after), r[2].DecodeInto(&code)); err != nil {
			return false, node.NewFailure(err, "can neither trace block %d nor give the balances before and after it, "+
				"so it can't show the ether that contracts sent there. Let it keep the state of the last blocks, or "+
				"use another node.", height)
		}
		if gain := after.ToAmount().Sub(before.ToAmount()); len(code) == 0 && gain.Cmp(due[addresses[i]]) < 0 {
			return false, nil
		}
	}
	return true, nil
}

// sumIncomes adds up all ether that the recipients of internal transfers received in a block.
// Accounts that send a transaction in the block are left out.
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
