package chaintest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
)

// Row is a transfer as a Ledger knows it.
type Row struct {
	chain.Transfer
	Height    int64  // 0 while unconfirmed
	BlockHash string // "" while unconfirmed
	Gone      bool   // neither pending nor in the best chain
	Reason    string // why it is gone: "replaced" or "dropped"
	Rival     string // the other transaction that used up one of its spend keys
	rivalAt   int64  // height of the rival; 0 while unconfirmed
}

// Ledger is the smallest honest chain.Store: it applies batches to the letter,
// refuses stale ones, and notes every batch that breaks the rules of chain.Batch.
type Ledger struct {
	// Fail, when set, is asked before each call; its error is the call's.
	Fail func(call string) error

	mu         sync.Mutex
	watch      *chain.WatchSet
	keep       int64
	cursor     chain.Cursor
	first      int64 // height of the first block that was ever applied
	fence      int64
	finalized  int64
	hashes     map[int64]string
	rows       map[string]*Row
	health     []string
	history    map[string][]string
	violations []string
	batches    int
	read       time.Time
}

var _ chain.Store = (*Ledger)(nil)

// NewLedger makes an empty ledger that keeps the hashes of the last keep blocks
// and adds the spend keys of its transfers to watch.
func NewLedger(watch *chain.WatchSet, keep int64) *Ledger {
	return &Ledger{watch: watch, keep: keep, hashes: map[int64]string{}, rows: map[string]*Row{}, history: map[string][]string{}}
}

// Cursor implements chain.Store.
func (l *Ledger) Cursor(context.Context, chain.Network) (chain.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor, l.fail("cursor")
}

// Hash implements chain.Store.
func (l *Ledger) Hash(_ context.Context, _ chain.Network, height int64) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hashes[height], l.fail("hash")
}

// Health implements chain.Store.
func (l *Ledger) Health(_ context.Context, _ chain.Network, _ int64, sentence string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fail("health"); err != nil {
		return err
	}
	l.health = append(l.health, sentence)
	return nil
}

// Looked implements chain.Store.
func (l *Ledger) Looked(_ context.Context, batch chain.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fail("looked"); err != nil {
		return err
	}
	if batch.From != l.cursor.Block || batch.Ancestor != nil || len(batch.Blocks) > 0 || batch.Read.IsZero() {
		l.violate("a look that is none: %+v", batch)
	}
	l.reach(batch)
	return nil
}

// reach notes until when the network was read.
func (l *Ledger) reach(batch chain.Batch) {
	if batch.Fence >= l.fence && batch.Read.After(l.read) {
		l.read = batch.Read
	}
}

// Read is the moment until which the network was read.
func (l *Ledger) Read() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// Apply implements chain.Store.
func (l *Ledger) Apply(_ context.Context, batch chain.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fail("apply"); err != nil {
		return err
	}
	if batch.From != l.cursor.Block || batch.Fence < l.fence {
		return chain.ErrStale
	}
	l.verify(batch)
	l.fence, l.batches = batch.Fence, l.batches+1
	l.reach(batch)
	if batch.Ancestor != nil {
		l.undo(*batch.Ancestor)
	}
	for _, block := range batch.Blocks {
		l.apply(block)
	}
	if batch.Pending != nil {
		l.picture(*batch.Pending)
	}
	for key, row := range l.rows {
		l.watch.AddSpends(row.Spends...)
		if h := l.history[key]; len(h) == 0 || h[len(h)-1] != row.state() {
			l.history[key] = append(h, row.state())
		}
	}
	return l.fail("commit")
}

// undo takes back every block above the ancestor.
func (l *Ledger) undo(ancestor chain.BlockID) {
	for _, row := range l.rows {
		if row.Height > ancestor.Height {
			row.Height, row.BlockHash, row.Reverted = 0, "", false
		}
		if row.rivalAt > ancestor.Height {
			row.Gone, row.Rival, row.rivalAt = false, "", 0
		}
	}
	for height := range l.hashes {
		if height > ancestor.Height {
			delete(l.hashes, height)
		}
	}
	l.cursor.Block = ancestor
}

// apply puts one block on top.
func (l *Ledger) apply(block chain.Block) {
	if !l.cursor.Known {
		l.first = block.Height
	}
	for _, t := range block.Transfers {
		row := l.row(t)
		if row.BlockHash != "" {
			l.violate("transfer %s is in block %d and again in block %d", t.Key(), row.Height, block.Height)
		}
		row.Height, row.BlockHash, row.Reverted = block.Height, block.Hash, t.Reverted
		row.Gone, row.Reason, row.Rival, row.rivalAt = false, "", "", 0
	}
	for _, s := range block.Spends {
		l.rival(s, block.Height)
	}
	l.hashes[block.Height] = block.Hash
	delete(l.hashes, block.Height-l.keep)
	l.cursor = chain.Cursor{Block: block.BlockID, Known: true}
}

// picture compares the unconfirmed transfers with a mempool.
func (l *Ledger) picture(pending chain.Pending) {
	here := map[string]bool{}
	for _, t := range pending.Transfers {
		if t.Reverted {
			l.violate("transfer %s is pending and known to be reverted", t.Key())
		}
		if here[t.Key()] {
			l.violate("transfer %s is twice in one picture of the mempool", t.Key())
		}
		here[t.Key()] = true
		if row := l.row(t); row.BlockHash == "" && row.rivalAt == 0 {
			row.Gone, row.Reason, row.Rival = false, "", ""
		}
	}
	for key, row := range l.rows {
		if row.BlockHash == "" && !here[key] && !row.Gone {
			row.Gone, row.Reason = true, "dropped"
		}
	}
	for _, s := range pending.Spends {
		l.rival(s, 0)
	}
}

// rival notes that a transaction used up a spend key at a height, 0 being the mempool.
func (l *Ledger) rival(s chain.Spend, height int64) {
	if !l.watch.Spend(s.Key) {
		l.violate("spend key %s is not watched", s.Key)
	}
	for _, row := range l.rows {
		if row.BlockHash != "" || row.TxID == s.TxID || (row.rivalAt > 0 && height == 0) {
			continue
		}
		for _, key := range row.Spends {
			if key == s.Key {
				row.Gone, row.Reason, row.Rival, row.rivalAt = true, "replaced", s.TxID, height
			}
		}
	}
}

// row finds or makes the row of a transfer.
func (l *Ledger) row(t chain.Transfer) *Row {
	if !l.watch.Address(t.Address) {
		l.violate("transfer %s to %s is not watched", t.Key(), t.Address)
	}
	row, ok := l.rows[t.Key()]
	if !ok {
		row = &Row{Transfer: t}
		row.Reverted = false
		l.rows[t.Key()] = row
		return row
	}
	was := describe(chain.Output{Asset: row.Asset, Destination: row.Destination, Amount: row.Amount})
	if is := describe(chain.Output{Asset: t.Asset, Destination: t.Destination, Amount: t.Amount}); is != was {
		l.violate("transfer %s was %s and became %s", t.Key(), was, is)
	}
	if len(t.Spends) > 0 {
		row.Spends = t.Spends
	}
	return row
}

// state is a row's state in a word, for its history.
func (r *Row) state() string {
	switch {
	case r.BlockHash != "":
		return "confirmed"
	case r.Gone:
		return "gone"
	}
	return "pending"
}

func (l *Ledger) fail(call string) error {
	if l.Fail == nil {
		return nil
	}
	return l.Fail(call)
}

func (l *Ledger) violate(format string, args ...any) {
	l.violations = append(l.violations, fmt.Sprintf(format, args...))
}
