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
	Calls nested   `json:"calls"`
}

// traced is what became of one transaction of a block.
type traced struct {
	Tx     hash  `json:"txHash"`
	Result frame `json:"result"`
}

// nested reads the calls that a frame made into a list of what they send: nothing else of them
// takes memory. Only at a frame's end it is known whether it undid what is within.
type nested struct{ into *sending }

// sending is what the calls of a transaction send.
type sending struct {
	begun int
	all   []send
}

// send is what one call sends, and its number in the order in which they begin.
type send struct {
	order int
	to    account
	value wei
}

// UnmarshalJSONFrom reads the list.
func (c *nested) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return node.List(d, math.MaxInt, func() error {
		f, since, order := frame{Calls: *c}, len(c.into.all), c.into.begun
		c.into.begun++
		switch err := json.UnmarshalDecode(d, &f); {
		case err != nil:
			return err
		case f.Type == "":
			return errors.New("a call without its type")
		case f.Error != "":
			c.into.all = c.into.all[:since] // it moved nothing, and neither did what it called
		case f.moves():
			c.into.all = append(c.into.all, send{order, *f.To, *f.Value})
		}
		return nil
	})
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
		r, err := n.call(ctx, maxTraces, ask("debug_traceBlockByHash", block.Hash.String(), map[string]string{"tracer": "callTracer"}))
		if err != nil {
			return err
		}
		if r.Error == nil || !r.Error.noMethod() {
			return out.nested(block, r)
		}
	}
	r, err := n.call(ctx, maxTraces, ask("trace_block", hexNumber(int64(block.Number))))
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
	var count int
	var into sending
	empty := func() traced {
		into.begun, into.all = 0, into.all[:0]
		return traced{Result: frame{Calls: nested{&into}}}
	}
	err := traces(block, answer, empty, func(one *traced) error {
		count++
		if count > len(block.Transactions) {
			return nil // what is wrong is told when they are counted
		}
		t := &block.Transactions[count-1]
		if one.Tx != t.Hash || one.Result.Type == "" {
			return torn(int64(block.Number), fmt.Errorf("the trace of %s is there for transaction %s", one.Tx, t.Hash))
		}
		since, place := len(r.found), placeInner
		slices.SortFunc(into.all, func(a, b send) int { return a.order - b.order })
		for i := range into.all {
			if s := &into.all[i]; one.Result.Error == "" {
				r.sent(s.to, s.value, &place)
			}
		}
		r.name(t, since)
		return nil
	})
	if err == nil && count != len(block.Transactions) {
		err = torn(int64(block.Number), fmt.Errorf("%d traces for %d transactions", count, len(block.Transactions)))
	}
	return err
}

// traces reads an answer that must be a list of traces of a block, one after the other.
func traces[T any](block *fullBlock, answer reply, empty func() T, take func(*T) error) error {
	if answer.Error != nil && answer.Error.pruned() {
		return lacks(int64(block.Number), answer.Error)
	}
	if answer.Error == nil && answer.null() {
		return lacks(int64(block.Number), errors.New("no traces"))
	}
	return fault(each(answer, empty, take))
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
