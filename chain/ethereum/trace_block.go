package ethereum

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// flatTrace is one call in a block's transactions, as trace_block lists them. A call is listed
// before its nested calls, with its path from the transaction.
type flatTrace struct {
	Type   string `json:"type"`
	Action struct {
		Kind    string   `json:"callType"`
		From    *account `json:"from"`
		To      *account `json:"to"`
		Value   *wei     `json:"value"`
		Address *account `json:"address"` // the contract that destroys itself
		Heir    *account `json:"refundAddress"`
		Balance *wei     `json:"balance"`
	} `json:"action"`
	Result *struct {
		Address *account `json:"address"` // the contract that was created
	} `json:"result"`
	Error string     `json:"error"`
	Path  traceDepth `json:"traceAddress"`
	Block *hash      `json:"blockHash"`
	Tx    *hash      `json:"transactionHash"` // null for a block reward
}

// movedValue returns the sender, the recipient and the amount of ether that the call itself sends, or nil.
func (s *flatTrace) movedValue() (from, to *account, value *wei) {
	switch a := &s.Action; {
	case s.Type == "call" && a.Kind == "call":
		from, to, value = a.From, a.To, a.Value
	case s.Type == "create" && s.Result != nil:
		from, to, value = a.From, s.Result.Address, a.Value
	case s.Type == "suicide" || s.Type == "selfdestruct":
		from, to, value = a.Address, a.Heir, a.Balance
	}
	if from == nil || to == nil || value == nil || value.IsZero() || *from == *to {
		return nil, nil, nil
	}
	return from, to, value
}

// traceDepth is the number of calls between the transaction and a trace.
type traceDepth int

// UnmarshalJSONFrom counts the elements of traceAddress.
func (n *traceDepth) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*n = 0
	return node.ReadList(d, math.MaxInt, func() error {
		*n++
		return d.SkipValue()
	})
}

// flatTraceReader reads the traces of a block, one at a time.
type flatTraceReader struct {
	*transferFinder
	block       *fullBlock
	started     int  // transactions of the block whose traces have begun
	allDone     bool // only rewards may follow
	since       int  // number of transfers before the current transaction
	index       int
	failedDepth traceDepth // depth of the call that reverted its nested calls; -1 means none
}

// addFlatTraces adds the internal transfers that trace_block shows of a block. The traces are
// requested by height, so each trace must name the block, and each transaction must have a trace.
func (r *transferFinder) addFlatTraces(block *fullBlock, answer rpc.Response) error {
	l := &flatTraceReader{transferFinder: r, block: block}
	if err := streamTraces(block, answer, func() (s flatTrace) { return s }, l.addTrace); err != nil {
		return err
	}
	if l.started < len(block.Transactions) {
		return l.mismatchError("transaction %s has no trace", block.Transactions[l.started].Hash)
	}
	l.finishTransaction()
	return nil
}

func (l *flatTraceReader) mismatchError(format string, what ...any) error {
	return inconsistentBlockError(int64(l.block.Number), fmt.Errorf(format, what...))
}

// finishTransaction sets the transaction id of the transfers that were found in the current
// transaction.
func (l *flatTraceReader) finishTransaction() {
	if l.started > 0 {
		l.setTransaction(&l.block.Transactions[l.started-1], l.since)
	}
}

// addTrace adds one trace. The first trace of a transaction is the transaction itself, which its
// receipt already covers.
func (l *flatTraceReader) addTrace(s *flatTrace) error {
	all := l.block.Transactions
	switch {
	case s.Block == nil || *s.Block != *l.block.Hash:
		return l.mismatchError("a trace of the answer is block %s instead of %s", s.Block, l.block.Hash)
	case s.Tx == nil:
		l.allDone = true
		return nil
	case l.allDone:
		return l.mismatchError("a trace follows those of all transactions")
	case l.started > 0 && *s.Tx == all[l.started-1].Hash:
		l.addCall(s)
		return nil
	case l.started == len(all):
		return l.mismatchError("a trace of %s, which isn't in the block", s.Tx)
	case *s.Tx != all[l.started].Hash || s.Path > 0:
		return l.mismatchError("transaction %s has no trace", all[l.started].Hash)
	}
	l.finishTransaction()
	l.started++
	l.since, l.index, l.failedDepth = len(l.transfers), indexInternal, -1
	if s.Error != "" {
		l.failedDepth = 0
	}
	return nil
}

// addCall adds the trace of an internal call.
func (l *flatTraceReader) addCall(s *flatTrace) {
	if l.failedDepth >= 0 && s.Path > l.failedDepth {
		return
	}
	l.failedDepth = -1
	if s.Error != "" {
		l.failedDepth = s.Path
	} else if from, to, value := s.movedValue(); to != nil {
		l.addInternal(*from, *to, *value, &l.index)
	}
}
