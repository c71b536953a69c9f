package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// fetchBlock reads the block at a height with the receipts of its transactions, in one request if
// the node has eth_getBlockReceipts. Two servers behind one address may answer the two parts of
// the request, and one of them may lag. So the block is used only if all parts name the same block
// and each transaction has a receipt. With trace the node also traces the block for internal
// transfers.
func (n *server) fetchBlock(ctx context.Context, height int64, watch chain.Watch, trace bool) (chain.Block, error) {
	requests := []rpc.Request{rpc.NewRequest("eth_getBlockByNumber", encodeHeight(height), true)}
	alone := n.noBlockReceipts.Load()
	if !alone {
		requests = append(requests, rpc.NewRequest("eth_getBlockReceipts", encodeHeight(height)))
	}
	responses, err := n.CallAll(ctx, maxBlockResponse, requests...)
	if len(requests) > 1 && errors.Is(err, node.ErrTooLong) {
		alone = true // the receipts may be too long if the block is filled with logs
		responses, err = n.CallAll(ctx, maxBlockResponse, requests[0])
	}
	if err != nil {
		return chain.Block{}, err
	}
	block, err := decodeBlock(responses[0], height)
	if err != nil {
		return chain.Block{}, err
	}
	out := n.newFinder(watch)
	switch {
	case alone:
		err = n.searchByLogs(ctx, out, block)
	case responses[1].Error != nil && responses[1].Error.IsNoMethod():
		n.noBlockReceipts.Store(true)
		err = n.searchByLogs(ctx, out, block)
	default:
		var receipts []receipt
		if receipts, err = decodeReceipts(responses[1], block, out.token); err == nil {
			out.addBlock(block, receipts)
		}
	}
	if err == nil && trace {
		err = n.fetchInternal(ctx, out, block)
	}
	if err != nil {
		return chain.Block{}, err
	}
	return n.finishBlock(out, block), nil
}

// finishBlock returns the block of a finder that has searched it.
func (n *server) finishBlock(out *transferFinder, block *fullBlock) chain.Block {
	out.setFees()
	header, _ := block.toChainHeader() // decodeBlock checked it
	n.headers.Keep(header.Hash, header)
	return chain.Block{Header: header, Transfers: out.transfers, Spends: out.spends, Departures: out.left}
}

// decodeBlock reads an answer that must be the block at a height.
func decodeBlock(r rpc.Response, height int64) (*fullBlock, error) {
	if err := findMissing(r, height); err != nil {
		return nil, err
	}
	block := new(fullBlock)
	if err := r.DecodeInto(block); err != nil {
		return nil, asRefusal(err)
	}
	if err := block.checkHeight(height); err != nil {
		return nil, err
	}
	if block.Transactions == nil {
		return nil, inconsistentBlockError(height, errors.New("no list of transactions"))
	}
	return block, nil
}

// checkHeight checks that a header is complete and of the block at a height.
func (h header) checkHeight(height int64) error {
	if _, err := h.toChainHeader(); err != nil {
		return rpc.InvalidAnswerError(err)
	}
	if int64(h.Number) != height {
		return inconsistentBlockError(height, fmt.Errorf("the answer is block %d", h.Number))
	}
	return nil
}

// decodeReceipts reads the receipts of a block's transactions and checks them against the block's
// bloom.
func decodeReceipts(r rpc.Response, block *fullBlock, token account) ([]receipt, error) {
	height := int64(block.Number)
	if err := findMissing(r, height); err != nil {
		return nil, err
	}
	var all receipts
	if err := r.DecodeInto(&all); err != nil {
		return nil, asRefusal(err)
	}
	if err := errors.Join(checkReceipts(block, all), block.checkTokenLogs(all, token)); err != nil {
		return nil, inconsistentBlockError(height, err)
	}
	return all, nil
}

// searchByLogs finds the transfers of a block if the node gives receipts only one by one. It fetches the receipts of
// transactions from and to a watched address, and of those with a token log of one. Logs are requested by the block's
// hash, so that a lagging node reports that it lacks the block. If the node returns no logs of USDT although the
// block's bloom may contain some, or the node refuses and the bloom may contain logs of any token, all receipts are
// fetched.
func (n *server) searchByLogs(ctx context.Context, out *transferFinder, block *fullBlock) error {
	r, err := n.CallOne(ctx, maxBlockResponse, rpc.NewRequest("eth_getLogs", map[string]any{
		"blockHash": block.Hash.String(), "address": out.listContracts(), "topics": []string{transferEvent.String()}}))
	if err != nil {
		return err
	}
	var shown logs
	if r.Error == nil {
		if err := r.DecodeInto(&shown); err != nil {
			return err
		}
	}
	isToken := func(l logEntry) bool { return l.Address == out.token }
	all := !slices.ContainsFunc(shown, isToken) && block.mayHaveTokenLogs(out.token)
	for contract := range out.others {
		all = all || r.Error != nil && block.mayHaveTokenLogs(contract)
	}
	return n.searchShownLogs(ctx, out, block, shown, all)
}

// searchShownLogs finds the transfers of a block whose logs of tokens are known. It fetches the receipts of the
// transactions that may concern the watch, or all.
func (n *server) searchShownLogs(ctx context.Context, out *transferFinder, block *fullBlock, shown logs,
	all bool) error {
	height := int64(block.Number)
	wanted := map[hash]bool{}
	for i := range shown {
		l := &shown[i]
		if l.Block != *block.Hash {
			return inconsistentBlockError(height,
				fmt.Errorf("a log of the answer is block %s instead of %s", l.Block, block.Hash))
		}
		if l.concerns(out.watch) {
			wanted[l.Tx] = true
		}
	}
	var some []*transaction
	for i := range block.Transactions {
		t := &block.Transactions[i]
		if all || wanted[t.Hash] || out.watch.Raw(t.From[:]) || t.To != nil && out.watch.Raw(t.To[:]) {
			some = append(some, t)
			delete(wanted, t.Hash)
		} else {
			out.addSpend(t, len(out.transfers))
		}
	}
	if len(wanted) > 0 {
		return inconsistentBlockError(height, errors.New("a log is of a transaction that the block doesn't have"))
	}
	if err := n.fetchReceipts(ctx, out, block, some); err != nil {
		return err
	}
	out.addWithdrawals(block)
	return nil
}

// fetchReceipts fetches the receipts of some transactions of a block, and adds their transfers.
func (n *server) fetchReceipts(ctx context.Context, out *transferFinder, block *fullBlock, some []*transaction) error {
	requests := make([]rpc.Request, len(some))
	for i, t := range some {
		requests[i] = rpc.NewRequest("eth_getTransactionReceipt", t.txID())
	}
	responses, err := n.CallAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return err
	}
	receipts := make([]receipt, len(some))
	for i, r := range responses {
		got := &receipts[i]
		if r.Error == nil && r.IsNull() {
			return missingBlockError(int64(block.Number), errors.New("a receipt"))
		}
		if err := r.DecodeInto(got); err != nil {
			return asRefusal(err)
		}
		if err := got.checkMatches(some[i], *block.Hash); err != nil {
			return inconsistentBlockError(int64(block.Number), err)
		}
		out.addTransaction(some[i], got)
	}
	out.receipts = receipts
	if len(some) == len(block.Transactions) {
		if err := block.checkTokenLogs(receipts, out.token); err != nil {
			return inconsistentBlockError(int64(block.Number), err)
		}
	}
	return nil
}
