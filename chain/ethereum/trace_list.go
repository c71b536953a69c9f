package ethereum

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
)

// step is one call of a block's transactions, as trace_block lists them: each before
// those that it made, and with the way to it from its transaction.
type step struct {
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
	Error string `json:"error"`
	Path  depth  `json:"traceAddress"`
	Block *hash  `json:"blockHash"`
	Tx    *hash  `json:"transactionHash"` // null of what nobody sent, such as a reward
}

// moves is to whom the step itself sends ether, and how much; nil where it sends none.
func (s *step) moves() (to *account, value *wei) {
	var from *account
	switch a := &s.Action; {
	case s.Type == "call" && a.Kind == "call":
		from, to, value = a.From, a.To, a.Value
	case s.Type == "create" && s.Result != nil:
		from, to, value = a.From, s.Result.Address, a.Value
	case s.Type == "suicide" || s.Type == "selfdestruct":
		from, to, value = a.Address, a.Heir, a.Balance
	}
	if from == nil || to == nil || value == nil || value.zero() || *from == *to {
		return nil, nil
	}
	return to, value
}

// depth is how many calls lead to a step from its transaction.
type depth int

// UnmarshalJSONFrom counts the places that nodes list, each within the one before.
func (n *depth) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*n = 0
	return node.List(d, math.MaxInt, func() error {
		*n++
		return d.SkipValue()
	})
}

// listing reads steps of a block, one after the other.
type listing struct {
	*reader
	block  *fullBlock
	begun  int  // how many of the block's transactions were come to
	ended  bool // what comes now nobody sent
	since  int  // what was found before the last of them
	place  int
	failed depth // how deep the step is that undid those below it; -1 is none
}

// listed reads what trace_block shows of a block: asked for by its height, so that
// every step must name the block itself, and every transaction must have its own.
func (r *reader) listed(block *fullBlock, answer reply) error {
	l := &listing{reader: r, block: block}
	if err := traces(block, answer, func() (s step) { return s }, l.step); err != nil {
		return err
	}
	if l.begun < len(block.Transactions) {
		return l.torn("transaction %s has no trace", block.Transactions[l.begun].Hash)
	}
	l.end()
	return nil
}

func (l *listing) torn(format string, what ...any) error {
	return torn(int64(l.block.Number), fmt.Errorf(format, what...))
}

// end names what was found of the last transaction.
func (l *listing) end() {
	if l.begun > 0 {
		l.name(&l.block.Transactions[l.begun-1], l.since)
	}
}

// step reads one. The first of a transaction is its own: its receipt tells of that.
func (l *listing) step(s *step) error {
	all := l.block.Transactions
	switch {
	case s.Block == nil || *s.Block != *l.block.Hash:
		return l.torn("a trace of block %s came for %s", s.Block, l.block.Hash)
	case s.Tx == nil && l.begun == len(all):
		l.ended = true
		return nil
	case l.ended:
		return l.torn("a trace follows those of all transactions")
	case s.Tx != nil && l.begun > 0 && *s.Tx == all[l.begun-1].Hash:
		l.inner(s)
		return nil
	case l.begun == len(all):
		return l.torn("a trace of %s, which isn't in the block", s.Tx)
	case s.Tx == nil || *s.Tx != all[l.begun].Hash || s.Path > 0:
		return l.torn("transaction %s has no trace", all[l.begun].Hash)
	}
	l.end()
	l.begun++
	l.since, l.place, l.failed = len(l.found), placeInner, -1
	if s.Error != "" {
		l.failed = 0
	}
	return nil
}

// inner reads a call that a transaction made.
func (l *listing) inner(s *step) {
	if l.failed >= 0 && s.Path > l.failed {
		return
	}
	l.failed = -1
	if s.Error != "" {
		l.failed = s.Path
	} else if to, value := s.moves(); to != nil {
		l.sent(*to, *value, &l.place)
	}
}
