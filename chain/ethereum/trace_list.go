package ethereum

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
)

// flatTrace is one call of a block's transactions, as trace_block lists them: each before
// those that it made, and with the way to it from its transaction.
type flatTrace struct {
	Type   string `json:"type"`
	Action struct {
		Kind    string   `json:"callType"`
		From    *account `json:"from"`
		To      *account `json:"to"`
		Value   *wei     `json:"value"`
		Address *account `json:"address"` // of the contract that ends
		Heir    *account `json:"refundAddress"`
		Balance *wei     `json:"balance"`
	} `json:"action"`
	Result *struct {
		Address *account `json:"address"` // of the contract that was made
	} `json:"result"`
	Error string     `json:"error"`
	Path  traceDepth `json:"traceAddress"`
	Block *hash      `json:"blockHash"`
	Tx    *hash      `json:"transactionHash"` // null of what nobody sent, such as a reward
}

// movedValue is to whom the step itself sends ether, and how much; nil where it sends none.
func (s *flatTrace) movedValue() (to *account, value *wei) {
	var from *account
	switch a := &s.Action; {
	case s.Type == "call" && a.Kind == "call":
		from, to, value = a.From, a.To, a.Value
	case s.Type == "create" && s.Result != nil:
		from, to, value = a.From, s.Result.Address, a.Value
	case s.Type == "suicide" || s.Type == "selfdestruct":
		from, to, value = a.Address, a.Heir, a.Balance
	}
	if from == nil || to == nil || value == nil || value.isZero() || *from == *to {
		return nil, nil
	}
	return to, value
}

// traceDepth is how many calls lead to a step from its transaction.
type traceDepth int

// UnmarshalJSONFrom counts the places that nodes list, each within the one before.
func (n *traceDepth) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*n = 0
	return node.List(d, math.MaxInt, func() error {
		*n++
		return d.SkipValue()
	})
}

// flatTraceReader reads steps of a block, one after the other.
type flatTraceReader struct {
	*transferFinder
	block       *fullBlock
	started     int  // how many of the block's transactions were come to
	allDone     bool // what comes now nobody sent
	since       int  // what was found before the last of them
	index       int
	failedDepth traceDepth // how deep the step is that undid those below it; -1 is none
}

// addFlatTraces reads what trace_block shows of a block: asked for by its height, so that
// every step must name the block itself, and every transaction must have its own.
func (r *transferFinder) addFlatTraces(block *fullBlock, answer response) error {
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

// finishTransaction names what was found of the last transaction.
func (l *flatTraceReader) finishTransaction() {
	if l.started > 0 {
		l.setTransaction(&l.block.Transactions[l.started-1], l.since)
	}
}

// addTrace reads one. The first of a transaction is its own: its receipt tells of that.
func (l *flatTraceReader) addTrace(s *flatTrace) error {
	all := l.block.Transactions
	switch {
	case s.Block == nil || *s.Block != *l.block.Hash:
		return l.mismatchError("a trace of block %s came for %s", s.Block, l.block.Hash)
	case s.Tx == nil && l.started == len(all):
		l.allDone = true
		return nil
	case l.allDone:
		return l.mismatchError("a trace follows those of all transactions")
	case s.Tx != nil && l.started > 0 && *s.Tx == all[l.started-1].Hash:
		l.addCall(s)
		return nil
	case l.started == len(all):
		return l.mismatchError("a trace of %s, which isn't in the block", s.Tx)
	case s.Tx == nil || *s.Tx != all[l.started].Hash || s.Path > 0:
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

// addCall reads a call that a transaction made.
func (l *flatTraceReader) addCall(s *flatTrace) {
	if l.failedDepth >= 0 && s.Path > l.failedDepth {
		return
	}
	l.failedDepth = -1
	if s.Error != "" {
		l.failedDepth = s.Path
	} else if to, value := s.movedValue(); to != nil {
		l.addInternal(*to, *value, &l.index)
	}
}
