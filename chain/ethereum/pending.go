package ethereum

import (
	"context"
	"sync"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// maxPendingTxs bounds how many pending transactions are remembered.
const maxPendingTxs = 1000

// pendingCache remembers the pending transactions that were shown before. A node shows only the
// block that it would produce next, so a transaction outside of that block may still be pending.
// It is therefore asked for by its hash.
type pendingCache struct {
	mu  sync.Mutex
	txs map[string]bool
}

// removeMined forgets the transactions that a block contains.
func (w *pendingCache) removeMined(block chain.Block) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range block.Transfers {
		delete(w.txs, t.TxID)
	}
}

// listTxIDs returns the ids of the remembered transactions.
func (w *pendingCache) listTxIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, 0, len(w.txs))
	for name := range w.txs {
		names = append(names, name)
	}
	return names
}

// Pending implements chain.Reader. It returns transfers of ether in the block that the node would
// produce next, and earlier ones that are still pending. Token transfers are left out, because
// only a receipt shows what a token call moves. If the node does not show pending transactions,
// the result is empty and payments are first seen in a block.
func (v *view) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if v.node.showsNoPending() {
		return chain.Pending{}, ctx.Err()
	}
	out := v.node.newFinder(watch)
	if err := v.node.fetchPending(ctx, out, v.tip, &v.pending); err != nil {
		return chain.Pending{}, v.node.DemoteOnError(ctx, err)
	}
	return chain.Pending{Transfers: out.transfers, Spends: out.spends}, nil
}

// showsNoPending reports whether the node shows no pending transactions, or none that can pay: where the network's own
// coin isn't ether, only tokens pay.
func (n *server) showsNoPending() bool { return n.noPending.Load() || n.params.Native != money.ETH }

// fetchPending asks in one request for the block that the node would produce next, and for the
// transactions that it showed before.
func (n *server) fetchPending(ctx context.Context, out *transferFinder, tip int64, w *pendingCache) error {
	names := w.listTxIDs()
	requests := []rpc.Request{rpc.NewRequest("eth_getBlockByNumber", "pending", true)}
	for _, name := range names {
		requests = append(requests, rpc.NewRequest("eth_getTransactionByHash", name))
	}
	responses, err := n.CallAll(ctx, maxBlockResponse, requests...)
	if err != nil {
		return err
	}
	var next fullBlock
	switch {
	case responses[0].Error != nil:
		n.noPending.Store(true) // until the identity is verified again
	case responses[0].IsNull():
	default:
		if err := responses[0].DecodeInto(&next); err != nil {
			return asRefusal(err)
		}
	}
	shown := map[string]bool{}
	if int64(next.Number) > tip { // otherwise the node answered with its last block, as some nodes do
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
		if shown[names[i]] || r.Error != nil || r.IsNull() || r.DecodeInto(&t) != nil || t.Block != nil ||
			t.txID() != names[i] {
			continue
		}
		since := len(out.transfers)
		out.addValue(&t.transaction, false)
		out.addSpend(&t.transaction, since)
	}
	w.replaceAll(out.transfers)
	return nil
}

// replaceAll replaces the remembered transactions with the ones that are pending now.
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
