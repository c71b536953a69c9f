package bitcoin

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/feerate"
	"cointill/chain/node"
)

// fetchOutputStates asks for outputs with the mempool's transactions, and for those that aren't there
// without them. btcd doesn't look at what its mempool spends.
func (c *core) fetchOutputStates(ctx context.Context, outputs []chain.OwnOutput) ([]chain.OutputState, error) {
	states := make([]chain.OutputState, len(outputs))
	var asked []int
	for i := range outputs {
		asked = append(asked, i)
	}
	for _, state := range []chain.OutputState{chain.OutputClaimed, chain.OutputSpent} {
		there, err := c.fetchUnspent(ctx, outputs, asked, state == chain.OutputClaimed)
		if err != nil {
			return nil, err
		}
		var missing []int
		for i, at := range asked {
			if !there[i] {
				states[at] = state
				missing = append(missing, at)
			}
		}
		asked = missing
	}
	return states, nil
}

// fetchUnspent reports which outputs of the numbers a node has as unspent.
func (c *core) fetchUnspent(ctx context.Context, outputs []chain.OwnOutput, numbers []int, mempool bool) ([]bool,
	error) {
	there := make([]bool, len(numbers))
	if len(numbers) == 0 {
		return nil, nil
	}
	calls := make([]rpcCall, len(numbers))
	for i, at := range numbers {
		calls[i] = c.newCall("gettxout", outputs[at].TxID, outputs[at].Index, mempool)
	}
	replies, err := c.callBatch(ctx, maxHex, calls)
	if err != nil {
		return nil, refusedMethodError("gettxout", err)
	}
	for i, r := range replies {
		if err := r.resultError(); err != nil {
			return nil, refusedMethodError("gettxout", err)
		}
		switch r.Result.Kind() {
		case '{':
			there[i] = true
		case 'n': // it isn't there
		default:
			return nil, node.UnexpectedAnswerError(rpcServerKind, errors.New("no state of an output"))
		}
	}
	return there, nil
}

// fewBlocks is within how many blocks btcd and Dogecoin Core have estimates at most.
const fewBlocks = 25

// estimateFee asks for the rate at which a transaction confirms within some blocks, or within as many as
// every node has estimates for; 0 for none.
func (c *core) estimateFee(ctx context.Context, blocks int) (int64, error) {
	rate, err := c.fetchEstimate(ctx, blocks)
	if rate > 0 || err != nil || blocks <= fewBlocks {
		return rate, err
	}
	return c.fetchEstimate(ctx, fewBlocks)
}

func (c *core) fetchEstimate(ctx context.Context, blocks int) (int64, error) {
	method := "estimatesmartfee"
	if c.isBtcd.Load() {
		method = "estimatefee"
	}
	result, err := c.callMethod(ctx, smallAnswer, method, blocks)
	if asRPCError(err) != nil { // a node without estimates, or without blocks enough for one
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if c.isBtcd.Load() {
		return feerate.Parse(string(result), 1e8), nil
	}
	var answer struct {
		FeeRate jsontext.Value `json:"feerate"`
	}
	if err := json.Unmarshal(result, &answer, node.AllowDuplicateNames); err != nil {
		return 0, node.UnexpectedAnswerError(rpcServerKind, errors.New("no estimate of fees"))
	}
	return feerate.Parse(string(answer.FeeRate), 1e8), nil
}

// fetchPaidRates reads Bitcoin Core's statistics of blocks: what the 10th, 25th, 50th, 75th and 90th of 100
// equal parts of each paid. A node without them, or a provider that forbids them, is no failure: the blocks
// themselves are read then.
func (c *core) fetchPaidRates(ctx context.Context, tip int64) (rates []int64) {
	var calls []rpcCall
	for height := tip; height > max(0, tip-rateBlocks) && !c.isBtcd.Load(); height-- {
		calls = append(calls, c.newCall("getblockstats", height, []string{"feerate_percentiles"}))
	}
	if len(calls) == 0 {
		return nil
	}
	replies, err := c.callBatch(ctx, smallAnswer, calls)
	if err != nil {
		return nil
	}
	for _, r := range replies {
		var stats struct {
			Percentiles []jsontext.Value `json:"feerate_percentiles"`
		}
		if r.Error != nil || json.Unmarshal(r.Result, &stats, node.AllowDuplicateNames) != nil {
			return nil
		}
		for _, text := range stats.Percentiles[:min(len(stats.Percentiles), 5)] {
			if rate := feerate.Parse(string(text), 1000); rate > 0 { // a block without transactions has zeros
				rates = append(rates, rate)
			}
		}
	}
	return rates
}

// broadcastTx gives a transaction to the node. said is why it refused it, "" where it took it.
func (c *core) broadcastTx(ctx context.Context, raw string) (said string, err error) {
	_, err = c.callMethod(ctx, smallAnswer, "sendrawtransaction", raw)
	if refused := asRPCError(err); refused != nil {
		return cmp.Or(refused.Message, noReason), nil
	}
	return "", err
}

// fetchMinedTx fetches a transaction of a block. Nodes without an index of transactions serve the
// block.
func (c *core) fetchMinedTx(ctx context.Context, id, blockHash string) ([]byte, error) {
	result, err := c.callMethod(ctx, maxHex, "getrawtransaction", id)
	if err == nil {
		return decodeHexResult(result)
	}
	if asRPCError(err) == nil {
		return nil, err
	}
	block, err := c.fetchBlock(ctx, blockHash)
	if err != nil {
		return nil, err
	}
	raw, err := findTx(block, c.params, id)
	if err != nil {
		return nil, node.DamagedDataError("a block", err)
	}
	return raw, nil
}
