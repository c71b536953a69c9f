package chaintest

import (
	"slices"

	"cointill/chain"
)

// checkShape records the rules that the shape of a batch breaks.
func (l *Ledger) checkShape(batch chain.Batch) {
	base := batch.From
	if batch.Ancestor != nil {
		base = *batch.Ancestor
		if base.Height > batch.From.Height || l.hashes[base.Height] != base.Hash {
			l.addViolation("ancestor %d is not a block of the old branch", base.Height)
		}
		if len(batch.Blocks) == 0 {
			l.addViolation("a reorganisation without a new branch")
		}
	}
	for i, block := range batch.Blocks {
		first := i == 0 && !l.cursor.Known
		if !first && (block.Height != base.Height+1 || block.Parent != base.Hash) {
			l.addViolation("block %d does not follow block %d", block.Height, base.Height)
		}
		if block.Hash == "" || block.Time.IsZero() {
			l.addViolation("block %d has no hash or no time", block.Height)
		}
		base = block.BlockID
		for _, t := range block.Transfers {
			if len(t.Spends) > chain.MaxSpends {
				l.addViolation("transfer %s has %d spend keys", t.Key(), len(t.Spends))
			}
		}
	}
	if batch.Tip.Height < base.Height {
		l.addViolation("block %d is above the tip %d", base.Height, batch.Tip.Height)
	}
	if batch.Tip.Finalized > batch.Tip.Height {
		l.addViolation("finalized %d is above the tip %d", batch.Tip.Finalized, batch.Tip.Height)
	}
	l.finalized = max(l.finalized, batch.Tip.Finalized)
}

// Tip returns the last applied block.
func (l *Ledger) Tip() chain.BlockID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor.Block
}

// Transfers returns every transfer ever seen, by transaction.
func (l *Ledger) Transfers() map[string][]Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]Row{}
	for _, row := range l.rows {
		out[row.TxID] = append(out[row.TxID], *row)
	}
	for _, rows := range out {
		slices.SortFunc(rows, func(a, b Row) int { return a.Index - b.Index })
	}
	return out
}

// Confirmations returns the confirmations of a transaction's first transfer; 0 while it is
// unconfirmed or unknown.
func (l *Ledger) Confirmations(txid string) int64 {
	rows := l.Transfers()[txid]
	if len(rows) == 0 || rows[0].BlockHash == "" {
		return 0
	}
	return l.Tip().Height - rows[0].Height + 1
}

// History returns the states of a transaction's first transfer, batch by batch, without
// repetitions: "pending", "confirmed", "gone".
func (l *Ledger) History(txid string) []string {
	rows := l.Transfers()[txid]
	if len(rows) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.history[rows[0].Key()])
}

// Problem returns the last recorded health.
func (l *Ledger) Problem() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.health) == 0 {
		return ""
	}
	return l.health[len(l.health)-1]
}

// HealthWrites counts the calls of Health.
func (l *Ledger) HealthWrites() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.health)
}

// BatchCount counts the applied batches.
func (l *Ledger) BatchCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.batches
}

// ListViolations lists the recorded violations of the rules of chain.Batch and chain.Source.
func (l *Ledger) ListViolations() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.violations)
}
