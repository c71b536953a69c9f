package ethereum

import (
	"context"
	"errors"
	"fmt"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

// frame is one call of a transaction, as callTracer shows it, with those that it made.
type frame struct {
	Type  string   `json:"type"`
	From  account  `json:"from"`
	To    *account `json:"to"`
	Value *wei     `json:"value"`
	Error string   `json:"error"`
	Calls []frame  `json:"calls"`
}

// traced is what became of one transaction of a block.
type traced struct {
	Tx     hash   `json:"txHash"`
	Result *frame `json:"result"`
}

// moves reports whether the frame itself sends its value: calls with borrowed code
// show one that they don't, and what ended in an error sent nothing.
func (f *frame) moves() bool {
	switch f.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT":
		return f.To != nil && f.Value != nil && !f.Value.zero() && *f.To != f.From
	}
	return false
}

// inner finds ether that contracts send on within a block's transactions. It
// leaves no log, and shows only where the node runs the block again: call by call
// (debug_traceBlockByHash), or, where it has that instead, as a list (trace_block).
func (n *server) inner(ctx context.Context, out *reader, block *fullBlock) error {
	if len(block.Transactions) == 0 {
		return nil
	}
	if !n.listed.Load() {
		r, err := n.call(ctx, maxBlock, ask("debug_traceBlockByHash", block.Hash.String(), map[string]string{"tracer": "callTracer"}))
		if err != nil {
			return err
		}
		if r.Error == nil || !r.Error.noMethod() {
			return out.nested(block, r)
		}
	}
	r, err := n.call(ctx, maxBlock, ask("trace_block", hexNumber(int64(block.Number))))
	if err != nil {
		return err
	}
	none := r.Error != nil && r.Error.noMethod()
	n.listed.Store(!none)
	if none {
		return node.Troubled(r.Error, "doesn't run blocks again (debug_traceBlockByHash, or trace_block), which trace=blocks in its URL asks for. Allow it the debug or trace methods, or take trace=blocks out.")
	}
	return out.listed(block, r)
}

// nested reads what callTracer shows of a block.
func (r *reader) nested(block *fullBlock, answer reply) error {
	all, err := traces[traced](block, answer)
	if err != nil {
		return err
	}
	if len(all) != len(block.Transactions) {
		return torn(int64(block.Number), fmt.Errorf("%d traces for %d transactions", len(all), len(block.Transactions)))
	}
	for i := range all {
		t, one := &block.Transactions[i], &all[i]
		if one.Tx != t.Hash || one.Result == nil {
			return torn(int64(block.Number), fmt.Errorf("the trace of %s is there for transaction %s", one.Tx, t.Hash))
		}
		since, place := len(r.found), placeInner
		if one.Result.Error == "" {
			r.frames(one.Result.Calls, &place)
		}
		r.name(t, since)
	}
	return nil
}

// traces reads an answer that must be a list of traces of a block.
func traces[T any](block *fullBlock, answer reply) ([]T, error) {
	if answer.Error != nil && answer.Error.pruned() {
		return nil, lacks(int64(block.Number), answer.Error)
	}
	if answer.Error == nil && answer.null() {
		return nil, lacks(int64(block.Number), errors.New("no traces"))
	}
	all, err := list[T](answer)
	if err != nil {
		return nil, fault(err)
	}
	return all, nil
}

// frames reads calls in their order, those within before those after. What ended in
// an error moved nothing, and neither did what it called.
func (r *reader) frames(calls []frame, place *int) {
	for i := range calls {
		f := &calls[i]
		if f.Error != "" {
			continue
		}
		if f.moves() {
			r.sent(*f.To, *f.Value, place)
		}
		r.frames(f.Calls, place)
	}
}

// sent notes that a contract sends ether. A transfer's place is its number among all
// that the transaction's contracts send, to whomever: nodes differ in which calls they
// show that send none, and one must not count twice because another node is asked.
func (r *reader) sent(to account, value wei, place *int) {
	*place++
	if text, ok := r.watched(to); ok {
		r.found = append(r.found, chain.Transfer{Index: *place, Asset: string(money.ETH), Destination: chain.Destination{Address: text}, Amount: value.amount()})
	}
}
