package ethereum

import (
	"fmt"
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
	Path  []int  `json:"traceAddress"`
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

// listed reads what trace_block shows of a block: asked for by its height, so that
// every step must name the block itself, and every transaction must have its own.
func (r *reader) listed(block *fullBlock, answer reply) error {
	height := int64(block.Number)
	all, err := traces[step](block, answer)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Block == nil || *all[i].Block != *block.Hash {
			return torn(height, fmt.Errorf("a trace of block %s came for %s", all[i].Block, block.Hash))
		}
	}
	for i := range block.Transactions {
		t, n := &block.Transactions[i], 0
		for n < len(all) && all[n].Tx != nil && *all[n].Tx == t.Hash {
			n++
		}
		if n == 0 || len(all[0].Path) > 0 {
			return torn(height, fmt.Errorf("transaction %s has no trace", t.Hash))
		}
		since := len(r.found)
		r.steps(all[:n])
		r.name(t, since)
		all = all[n:]
	}
	if len(all) > 0 && all[0].Tx != nil {
		return torn(height, fmt.Errorf("a trace of %s, which isn't in the block", all[0].Tx))
	}
	return nil
}

// steps reads those of one transaction, of which the first is its own: its receipt
// tells of that.
func (r *reader) steps(all []step) {
	place, failed := placeInner, -1 // failed is how deep the step is that undid those below it
	for i := range all {
		s := &all[i]
		if failed >= 0 && len(s.Path) > failed {
			continue
		}
		failed = -1
		if s.Error != "" {
			failed = len(s.Path)
		} else if to, value := s.moves(); to != nil && i > 0 {
			r.sent(*to, *value, &place)
		}
	}
}
