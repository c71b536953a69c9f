package ethereum

import (
	"context"
	"errors"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// defaultRange is the number of blocks whose logs are asked for at once until a provider allows only fewer.
const defaultRange = 50

// errRangeRefused is the error for logs of several blocks that can't be used. The blocks are read one by one then.
var errRangeRefused = errors.New("logs of several blocks can't be used")

var _ chain.RangeReader = (*view)(nil)

// Blocks implements chain.RangeReader: one call for each block, and one for the logs of all tokens in them. A block is
// read by its receipts, as Block does, if its bloom may contain logs of a token and the node shows none.
func (v *view) Blocks(ctx context.Context, from, to int64, watch chain.Watch) ([]chain.Block, error) {
	n := v.node
	to = min(to, v.tip, from+n.rangeLimit()-1)
	if to > from && !n.endpoint.traceBlocks {
		several, fetch, confirm := blockRange{server: n, from: from, to: to, watch: watch}, blockRange.fetchBlocks,
			v.confirmBlocks
		if v.readsLogs(watch) {
			fetch, confirm = blockRange.fetchByLogs, v.confirmLogs
		}
		blocks, err := fetch(several, ctx)
		switch {
		case err == nil:
			return blocks, confirm(ctx, n, blocks, watch)
		case !errors.Is(err, errRangeRefused):
			return nil, n.DemoteOnError(ctx, err)
		}
	}
	block, err := v.Block(ctx, from, watch)
	return []chain.Block{block}, err
}

// confirmBlocks has a second node confirm each of several blocks.
func (v *view) confirmBlocks(ctx context.Context, n *server, blocks []chain.Block, watch chain.Watch) error {
	for _, block := range blocks {
		if err := v.confirmBlock(ctx, n, block, watch, false); err != nil {
			return err
		}
		v.pending.removeMined(block)
	}
	return nil
}

// rangeLimit returns for how many blocks the node may be asked for logs.
func (n *server) rangeLimit() int64 {
	if limit := n.maxRange.Load(); limit > 0 {
		return limit
	}
	return defaultRange
}

// blockRange is several blocks of a node, with the addresses that are searched for.
type blockRange struct {
	*server
	from, to int64
	watch    chain.Watch
}

// fetchBlocks reads the blocks with the logs of all tokens in them.
func (n blockRange) fetchBlocks(ctx context.Context) ([]chain.Block, error) {
	var requests []rpc.Request
	for height := n.from; height <= n.to; height++ {
		requests = append(requests, rpc.NewRequest("eth_getBlockByNumber", encodeHeight(height), true))
	}
	responses, err := n.CallAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return nil, err
	}
	found, err := n.fetchLogs(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]chain.Block, len(responses))
	for i, r := range responses {
		block, err := decodeBlock(r, n.from+int64(i))
		if err != nil {
			return nil, err
		}
		if all[i], err = n.searchBlock(ctx, block, found[*block.Hash]); err != nil {
			return nil, err
		}
		delete(found, *block.Hash)
	}
	if len(found) > 0 { // the chain changed meanwhile
		return nil, errRangeRefused
	}
	return all, nil
}

// fetchLogs returns the logs of transfers of all tokens in the blocks, by the hash of their block. If the node refuses,
// it is asked for half as many blocks the next time.
func (n blockRange) fetchLogs(ctx context.Context) (map[hash]logs, error) {
	contracts := n.newFinder(nil).listContracts()
	if len(contracts) == 0 {
		return nil, nil
	}
	r, err := n.CallOne(ctx, maxBlockResponse, rpc.NewRequest("eth_getLogs", map[string]any{
		"fromBlock": encodeHeight(n.from), "toBlock": encodeHeight(n.to), "address": contracts,
		"topics": []string{transferEvent.String()}}))
	if errors.Is(err, node.ErrTooLong) || err == nil && r.Error != nil {
		n.maxRange.Store(max((n.to-n.from+1)/2, 1))
		return nil, errRangeRefused
	}
	if err != nil {
		return nil, err
	}
	var shown logs
	if err := r.DecodeInto(&shown); err != nil {
		return nil, err
	}
	found := map[hash]logs{}
	for _, one := range shown {
		found[one.Block] = append(found[one.Block], one)
	}
	return found, nil
}

// searchBlock finds the transfers of a block by its logs. It reads all receipts of the block instead if its bloom may
// contain logs of a token that are not shown: a server that lags shows none of the blocks that it lacks.
func (n blockRange) searchBlock(ctx context.Context, block *fullBlock, shown logs) (chain.Block, error) {
	out := n.newFinder(n.watch)
	if n.lacksLogs(block.header, shown) {
		return n.fetchBlock(ctx, int64(block.Number), n.watch, false)
	}
	if err := n.searchShownLogs(ctx, out, block, shown, false); err != nil {
		return chain.Block{}, err
	}
	return n.finishBlock(out, block), nil
}
