package bitcoin

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
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
		return parseRate(string(result), 1e8), nil
	}
	var answer struct {
		FeeRate jsontext.Value `json:"feerate"`
	}
	if err := json.Unmarshal(result, &answer, node.AllowDuplicateNames); err != nil {
		return 0, node.UnexpectedAnswerError(rpcServerKind, errors.New("no estimate of fees"))
	}
	return parseRate(string(answer.FeeRate), 1e8), nil
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
