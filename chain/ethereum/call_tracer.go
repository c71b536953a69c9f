package ethereum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// callFrame is one call of a transaction with its nested calls, as callTracer shows it.
type callFrame struct {
	Type  string   `json:"type"`
	From  account  `json:"from"`
	To    *account `json:"to"`
	Value *wei     `json:"value"`
	Error string   `json:"error"`
	Calls callList `json:"calls"`
}

// txTrace is the trace of one transaction of a block.
type txTrace struct {
	Tx     hash      `json:"txHash"`
	Result callFrame `json:"result"`
}

// callList decodes the calls of a frame directly into a list of the ether that they send, so that
// the calls themselves take no memory. Only the end of a frame shows whether its nested calls were
// reverted.
type callList struct{ into *sendCollector }

// sendCollector collects the ether that the calls of one transaction send.
type sendCollector struct {
	started int
	sends   []internalSend
}

// internalSend is the ether that one call sends. Order is the call's number in the order in which
// the calls begin.
type internalSend struct {
	order    int
	from, to account
	value    wei
}

// UnmarshalJSONFrom reads the list.
func (c *callList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return node.ReadList(d, math.MaxInt, func() error {
		f, since, order := callFrame{Calls: *c}, len(c.into.sends), c.into.started
		c.into.started++
		switch err := json.UnmarshalDecode(d, &f); {
		case err != nil:
			return err
		case f.Type == "":
			return errors.New("a call without its type")
		case f.Error != "":
			c.into.sends = c.into.sends[:since] // a reverted call moves nothing, and neither do its nested calls
		case f.movesValue():
			c.into.sends = append(c.into.sends, internalSend{order, f.From, *f.To, *f.Value})
		}
		return nil
	})
}

// movesValue reports whether the frame itself sends its value. DELEGATECALL and CALLCODE show a
// value that they do not send, and a frame with an error sent nothing.
func (f *callFrame) movesValue() bool {
	switch f.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT":
		return f.To != nil && f.Value != nil && !f.Value.IsZero() && *f.To != f.From
	}
	return false
}

// fetchInternal finds ether that contracts send within a block's transactions. Such transfers
// leave no log and show only in a trace: call by call (debug_traceBlockByHash) or, if the node has
// that instead, as a flat list (trace_block).
func (n *server) fetchInternal(ctx context.Context, out *transferFinder, block *fullBlock) error {
	if len(block.Transactions) == 0 {
		return nil
	}
	if !n.usesTraceBlock.Load() {
		r, err := n.CallOne(ctx, maxTraceResponse,
			rpc.NewRequest("debug_traceBlockByHash", block.Hash.String(), map[string]string{"tracer": "callTracer"}))
		if err != nil {
			return err
		}
		if r.Error == nil || !r.Error.IsNoMethod() {
			return out.addCallTraces(block, r)
		}
	}
	r, err := n.CallOne(ctx, maxTraceResponse, rpc.NewRequest("trace_block", encodeHeight(int64(block.Number))))
	if err != nil {
		return err
	}
	none := r.Error != nil && r.Error.IsNoMethod()
	n.usesTraceBlock.Store(!none)
	if none {
		return node.NewFailure(r.Error, "can't trace blocks (debug_traceBlockByHash or trace_block), which "+
			"trace=blocks in its URL requires. Enable its debug or trace methods, or remove trace=blocks.")
	}
	return out.addFlatTraces(block, r)
}

// addCallTraces adds the internal transfers that callTracer shows of a block.
func (r *transferFinder) addCallTraces(block *fullBlock, answer rpc.Response) error {
	var count int
	var into sendCollector
	empty := func() txTrace {
		into.started, into.sends = 0, into.sends[:0]
		return txTrace{Result: callFrame{Calls: callList{&into}}}
	}
	err := streamTraces(block, answer, empty, func(one *txTrace) error {
		count++
		if count > len(block.Transactions) {
			return nil // a wrong count is reported at the end
		}
		t := &block.Transactions[count-1]
		if one.Tx != t.Hash || one.Result.Type == "" {
			return inconsistentBlockError(int64(block.Number),
				fmt.Errorf("the trace is of transaction %s instead of %s", one.Tx, t.Hash))
		}
		since, place := len(r.transfers), indexInternal
		slices.SortFunc(into.sends, func(a, b internalSend) int { return a.order - b.order })
		for i := range into.sends {
			if s := &into.sends[i]; one.Result.Error == "" {
				r.addInternal(s.from, s.to, s.value, &place)
			}
		}
		r.setTransaction(t, since)
		return nil
	})
	if err == nil && count != len(block.Transactions) {
		err = inconsistentBlockError(int64(block.Number),
			fmt.Errorf("%d traces for %d transactions", count, len(block.Transactions)))
	}
	return err
}

// streamTraces reads an answer that must be a list of traces of a block, one trace at a time.
func streamTraces[T any](block *fullBlock, answer rpc.Response, empty func() T, take func(*T) error) error {
	if answer.Error != nil && answer.Error.IsPruned() {
		return missingBlockError(int64(block.Number), answer.Error)
	}
	if answer.Error == nil && answer.IsNull() {
		return missingBlockError(int64(block.Number), errors.New("no traces"))
	}
	return asRefusal(streamList(answer, empty, take))
}

// addInternal adds ether that a contract sends, if the recipient is watched. The index of a
// transfer counts all internal sends of its transaction, to any recipient. Calls that send nothing
// are not counted, because nodes differ in which of them they show, and a transfer must not count
// twice when another node is asked.
func (r *transferFinder) addInternal(from, to account, value wei, place *int) {
	*place++
	if text, ok := r.watchedAddress(to); ok {
		r.transfers = append(r.transfers, r.setNative(chain.Transfer{Index: *place,
			Destination: chain.Destination{Address: text}, From: spendPrefix(from)}, value.ToAmount()))
	}
}
