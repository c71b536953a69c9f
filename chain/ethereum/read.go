package ethereum

import (
	"context"
	"errors"
	"fmt"

	"cointill/chain"
	"cointill/chain/node"
)

// blockAt reads the block at a height with what became of its transactions: in one
// request, where the node has eth_getBlockReceipts. Two questions may be answered
// by two nodes behind one address, of which one lags: nothing counts unless all
// parts name the same block, and there is a receipt for each transaction. With trace
// the node runs the block again, for what contracts sent on.
func (n *server) blockAt(ctx context.Context, height int64, watch chain.Watch, trace bool) (chain.Block, error) {
	questions := []question{ask("eth_getBlockByNumber", hexNumber(height), true)}
	alone := n.single.Load()
	if !alone {
		questions = append(questions, ask("eth_getBlockReceipts", hexNumber(height)))
	}
	replies, err := n.all(ctx, maxBlock, questions...)
	if len(questions) > 1 && errors.Is(err, node.ErrTooLong) {
		alone = true // the receipts may be, of a block that somebody filled with logs
		replies, err = n.all(ctx, maxBlock, questions[0])
	}
	if err != nil {
		return chain.Block{}, err
	}
	block, err := readBlock(replies[0], height)
	if err != nil {
		return chain.Block{}, err
	}
	out := &reader{token: account(n.params.Token), watch: watch}
	switch {
	case alone:
		err = n.search(ctx, out, block)
	case replies[1].Error != nil && replies[1].Error.noMethod():
		n.single.Store(true)
		err = n.search(ctx, out, block)
	default:
		var receipts []receipt
		if receipts, err = readReceipts(replies[1], block, out.token); err == nil {
			out.block(block, receipts)
		}
	}
	if err == nil && trace {
		err = n.inner(ctx, out, block)
	}
	if err != nil {
		return chain.Block{}, err
	}
	header, err := block.chain()
	if err != nil {
		return chain.Block{}, strange(err)
	}
	n.remember(header)
	return chain.Block{Header: header, Transfers: out.found, Spends: out.spent}, nil
}

// readBlock reads an answer that must be the block at a height.
func readBlock(r reply, height int64) (*fullBlock, error) {
	switch {
	case r.Error != nil && (r.Error.pruned() || r.Error.Code == codeUnknown):
		return nil, lacks(height, r.Error)
	case r.Error == nil && r.null():
		return nil, lacks(height, errors.New("null"))
	}
	block := new(fullBlock)
	if err := r.into(block); err != nil {
		return nil, fault(err)
	}
	if _, err := block.chain(); err != nil {
		return nil, strange(err)
	}
	if int64(block.Number) != height {
		return nil, torn(height, fmt.Errorf("block %d came for it", block.Number))
	}
	if block.Transactions == nil {
		return nil, torn(height, errors.New("no list of transactions"))
	}
	return block, nil
}

// readReceipts reads the receipts of a block's transactions, with all that the block's
// bloom tells of the token.
func readReceipts(r reply, block *fullBlock, token account) ([]receipt, error) {
	height := int64(block.Number)
	switch {
	case r.Error != nil && (r.Error.pruned() || r.Error.Code == codeUnknown):
		return nil, lacks(height, r.Error)
	case r.Error == nil && r.null():
		return nil, lacks(height, errors.New("no receipts"))
	}
	var all receipts
	if err := r.into(&all); err != nil {
		return nil, fault(err)
	}
	if err := errors.Join(together(block, all), block.accounted(all, token)); err != nil {
		return nil, torn(height, err)
	}
	return all, nil
}

// search finds what concerns the watch where a node gives receipts one by one
// only: by the token's logs of the block, and by whom its transactions pay. Logs
// are asked for by the block's hash, so that a node which lags says that it
// doesn't have it. One that answers with none all the same, while the block's own
// summary of its logs (its bloom) tells of the token, has to show every receipt.
func (n *server) search(ctx context.Context, out *reader, block *fullBlock) error {
	height := int64(block.Number)
	r, err := n.call(ctx, maxBlock, ask("eth_getLogs", map[string]any{
		"blockHash": block.Hash.String(), "address": out.token.String(), "topics": []string{transferEvent.String()}}))
	if err != nil {
		return err
	}
	var shown logs
	if r.Error == nil {
		if err := r.into(&shown); err != nil {
			return err
		}
	}
	all := r.Error != nil || len(shown) == 0 && block.mentions(out.token)
	wanted := map[hash]bool{}
	for i := range shown {
		l := &shown[i]
		if l.Block != *block.Hash {
			return torn(height, fmt.Errorf("a log of block %s came for %s", l.Block, block.Hash))
		}
		if len(l.Topics) == 3 {
			if to, ok := accountOf(l.Topics[2]); ok && out.watch.Raw(to[:]) {
				wanted[l.Tx] = true
			}
		}
	}
	var some []*transaction
	for i := range block.Transactions {
		t := &block.Transactions[i]
		if all || wanted[t.Hash] || t.To != nil && out.watch.Raw(t.To[:]) {
			some = append(some, t)
			delete(wanted, t.Hash)
		} else {
			out.uses(t, len(out.found))
		}
	}
	if len(wanted) > 0 {
		return torn(height, errors.New("a log is of a transaction that the block doesn't have"))
	}
	if err := n.oneByOne(ctx, out, block, some); err != nil {
		return err
	}
	out.withdrawals(block)
	return nil
}

// oneByOne reads transactions of a block with a receipt each.
func (n *server) oneByOne(ctx context.Context, out *reader, block *fullBlock, some []*transaction) error {
	questions := make([]question, len(some))
	for i, t := range some {
		questions[i] = ask("eth_getTransactionReceipt", t.id())
	}
	replies, err := n.all(ctx, maxBlock, questions...)
	if err != nil {
		return err
	}
	receipts := make([]receipt, len(some))
	for i, r := range replies {
		got := &receipts[i]
		if r.Error == nil && r.null() {
			return lacks(int64(block.Number), errors.New("a receipt"))
		}
		if err := r.into(got); err != nil {
			return fault(err)
		}
		if err := got.fits(some[i], *block.Hash); err != nil {
			return torn(int64(block.Number), err)
		}
		out.transaction(some[i], got)
	}
	if len(some) == len(block.Transactions) {
		if err := block.accounted(receipts, out.token); err != nil {
			return torn(int64(block.Number), err)
		}
	}
	return nil
}
