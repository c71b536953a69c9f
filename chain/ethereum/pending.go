package ethereum

import (
	"context"
	"sync"

	"cointill/chain"
)

// maxPendingTxs bounds how many pending transactions are remembered.
const maxPendingTxs = 1000

// pendingCache remembers pending transactions that were shown. What a node shows of its
// pool is only the block that it would make next: what isn't in that may wait all
// the same, so those that were shown before are asked for by name.
type pendingCache struct {
	mu  sync.Mutex
	txs map[string]bool
}

// removeMined forgets transactions that a block holds.
func (w *pendingCache) removeMined(block chain.Block) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range block.Transfers {
		delete(w.txs, t.TxID)
	}
}

// listTxIDs are the transactions that are remembered.
func (w *pendingCache) listTxIDs() []string {
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
	n, tip, err := s.current.Now(ctx)
	if err != nil || n.noPending.Load() {
		return chain.Pending{}, err
	}
	out := &transferFinder{watch: watch}
	err = n.fetchPending(ctx, out, tip.Height, &s.pending)
	if err != nil {
		return chain.Pending{}, n.Blame(ctx, err)
	}
	return chain.Pending{Transfers: out.transfers, Spends: out.spends}, nil
}

// fetchPending asks for the block that the node would make next, and in the same
// request for what it showed before.
func (n *server) fetchPending(ctx context.Context, out *transferFinder, tip int64, w *pendingCache) error {
	names := w.listTxIDs()
	requests := []request{newRequest("eth_getBlockByNumber", "pending", true)}
	for _, name := range names {
		requests = append(requests, newRequest("eth_getTransactionByHash", name))
	}
	responses, err := n.callAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return err
	}
	var next fullBlock
	switch {
	case responses[0].Error != nil:
		n.noPending.Store(true) // until it is proved anew
	case responses[0].isNull():
	default:
		if err := responses[0].decodeInto(&next); err != nil {
			return asRefusal(err)
		}
	}
	shown := map[string]bool{}
	if int64(next.Number) > tip { // else it is the last block, as some answer instead
		for i := range next.Transactions {
			t := &next.Transactions[i]
			since := len(out.transfers)
			out.addValue(t, false)
			out.addSpend(t, since)
			if len(out.transfers) > since {
				shown[t.txID()] = true
			}
		}
	}
	for i, r := range responses[1:] {
		var t struct {
			transaction
			Block *hash `json:"blockHash"`
		}
		if shown[names[i]] || r.Error != nil || r.isNull() || r.decodeInto(&t) != nil || t.Block != nil || t.txID() != names[i] {
			continue
		}
		since := len(out.transfers)
		out.addValue(&t.transaction, false)
		out.addSpend(&t.transaction, since)
	}
	w.replaceAll(out.transfers)
	return nil
}

// replaceAll remembers what is waiting now, and nothing else.
func (w *pendingCache) replaceAll(found []chain.Transfer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.txs = map[string]bool{}
	for _, t := range found {
		if len(w.txs) < maxPendingTxs {
			w.txs[t.TxID] = true
		}
	}
}
