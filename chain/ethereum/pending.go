package ethereum

import (
	"context"
	"sync"

	"cointill/chain"
)

// mostWaiting bounds how many pending transactions are remembered.
const mostWaiting = 1000

// waiting remembers pending transactions that were shown. What a node shows of its
// pool is only the block that it would make next: what isn't in that may wait all
// the same, so those that were shown before are asked for by name.
type waiting struct {
	mu  sync.Mutex
	txs map[string]bool
}

// mined forgets transactions that a block holds.
func (w *waiting) mined(block chain.Block) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range block.Transfers {
		delete(w.txs, t.TxID)
	}
}

// names are the transactions that are remembered.
func (w *waiting) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, 0, len(w.txs))
	for name := range w.txs {
		names = append(names, name)
	}
	return names
}

// Pending implements chain.Source: ether that transactions will send which the node
// would put into its next block, and those that it showed before and still has. Of
// tokens nobody knows before a receipt what they move. A node that doesn't show
// what is pending has nothing: payments are seen in a block then.
func (s *Source) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	n, tip, err := s.asked.Now(ctx)
	if err != nil || n.dumb.Load() {
		return chain.Pending{}, err
	}
	out := &reader{watch: watch}
	err = n.pending(ctx, out, tip.Height, &s.waiting)
	if err != nil {
		return chain.Pending{}, n.Blame(ctx, err)
	}
	return chain.Pending{Transfers: out.found, Spends: out.spent}, nil
}

// pending asks for the block that the node would make next, and in the same
// request for what it showed before.
func (n *server) pending(ctx context.Context, out *reader, tip int64, w *waiting) error {
	names := w.names()
	questions := []question{ask("eth_getBlockByNumber", "pending", true)}
	for _, name := range names {
		questions = append(questions, ask("eth_getTransactionByHash", name))
	}
	replies, err := n.all(ctx, maxBlock, questions...)
	if err != nil {
		return err
	}
	var next fullBlock
	switch {
	case replies[0].Error != nil:
		n.dumb.Store(true) // until it is proved anew
	case replies[0].null():
	default:
		if err := replies[0].into(&next); err != nil {
			return fault(err)
		}
	}
	shown := map[string]bool{}
	if int64(next.Number) > tip { // else it is the last block, as some answer instead
		for i := range next.Transactions {
			t := &next.Transactions[i]
			since := len(out.found)
			out.value(t, false)
			out.uses(t, since)
			if len(out.found) > since {
				shown[t.id()] = true
			}
		}
	}
	for i, r := range replies[1:] {
		var t struct {
			transaction
			Block *hash `json:"blockHash"`
		}
		if shown[names[i]] || r.Error != nil || r.null() || r.into(&t) != nil || t.Block != nil || t.id() != names[i] {
			continue
		}
		since := len(out.found)
		out.value(&t.transaction, false)
		out.uses(&t.transaction, since)
	}
	w.keep(out.found)
	return nil
}

// keep remembers what is waiting now, and nothing else.
func (w *waiting) keep(found []chain.Transfer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.txs = map[string]bool{}
	for _, t := range found {
		if len(w.txs) < mostWaiting {
			w.txs[t.TxID] = true
		}
	}
}
