package chaintest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
)

// Row is a transfer in a Ledger.
type Row struct {
	chain.Transfer
	Height      int64  // 0 while unconfirmed
	BlockHash   string // "" while unconfirmed
	Gone        bool   // neither pending nor in the best chain
	Reason      string // why it is gone: "replaced" or "dropped"
	Rival       string // the other transaction that used up one of its spend keys
	rivalHeight int64  // height of the rival; 0 while unconfirmed
}

// Ledger is a minimal chain.Store. It applies batches exactly, refuses stale ones, and records
// every batch that breaks the rules of chain.Batch.
type Ledger struct {
	// Fail, when set, is called before each call; its error becomes the error of the call.
	Fail func(call string) error

	mu          sync.Mutex
	watch       *chain.WatchSet
	keptBlocks  int64
	cursor      chain.Cursor
	firstHeight int64 // height of the first applied block
	fence       int64
	finalized   int64
	hashes      map[int64]string
	rows        map[string]*Row
	health      []string
	history     map[string][]string
	violations  []string
	batches     int
	read        time.Time
}

var _ chain.Store = (*Ledger)(nil)

// NewLedger makes an empty ledger that keeps the hashes of the last keep blocks and adds the spend
// keys of its transfers to watch.
func NewLedger(watch *chain.WatchSet, keep int64) *Ledger {
	return &Ledger{watch: watch, keptBlocks: keep, hashes: map[int64]string{}, rows: map[string]*Row{},
		history: map[string][]string{}}
}

// Cursor implements chain.Store.
func (l *Ledger) Cursor(context.Context, chain.Network) (chain.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor, l.failCall("cursor")
}

// Hash implements chain.Store.
func (l *Ledger) Hash(_ context.Context, _ chain.Network, height int64) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hashes[height], l.failCall("hash")
}

// Health implements chain.Store.
func (l *Ledger) Health(_ context.Context, _ chain.Network, _ int64, sentence string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.failCall("health"); err != nil {
		return err
	}
	l.health = append(l.health, sentence)
	return nil
}

// Looked implements chain.Store.
func (l *Ledger) Looked(_ context.Context, batch chain.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.failCall("looked"); err != nil {
		return err
	}
	if batch.From != l.cursor.Block || batch.Ancestor != nil || len(batch.Blocks) > 0 || batch.Read.IsZero() {
		l.addViolation("a look that is none: %+v", batch)
	}
	l.recordRead(batch)
	return nil
}

// recordRead records until when the network was read.
func (l *Ledger) recordRead(batch chain.Batch) {
	if batch.Fence >= l.fence && batch.Read.After(l.read) {
		l.read = batch.Read
	}
}

// ReadUntil returns the moment until which the network was read.
func (l *Ledger) ReadUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// Apply implements chain.Store.
func (l *Ledger) Apply(_ context.Context, batch chain.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.failCall("apply"); err != nil {
		return err
	}
	if batch.From != l.cursor.Block || batch.Fence < l.fence {
		return chain.ErrStale
	}
	l.checkShape(batch)
	l.fence, l.batches = batch.Fence, l.batches+1
	l.recordRead(batch)
	if batch.Ancestor != nil {
		l.undoBlocks(*batch.Ancestor)
	}
	for _, block := range batch.Blocks {
		l.applyBlock(block)
	}
	if batch.Pending != nil {
		l.applyPending(*batch.Pending)
	}
	for key, row := range l.rows {
		l.watch.AddSpends(row.Spends...)
		if h := l.history[key]; len(h) == 0 || h[len(h)-1] != row.stateName() {
			l.history[key] = append(h, row.stateName())
		}
	}
	return l.failCall("commit")
}

// undoBlocks undoes every block above the ancestor.
func (l *Ledger) undoBlocks(ancestor chain.BlockID) {
	for _, row := range l.rows {
		if row.Height > ancestor.Height {
			row.Height, row.BlockHash, row.Reverted = 0, "", false
		}
		if row.rivalHeight > ancestor.Height {
			row.Gone, row.Rival, row.rivalHeight = false, "", 0
		}
	}
	for height := range l.hashes {
		if height > ancestor.Height {
			delete(l.hashes, height)
		}
	}
	l.cursor.Block = ancestor
}

// applyBlock adds one block.
func (l *Ledger) applyBlock(block chain.Block) {
	if !l.cursor.Known {
		l.firstHeight = block.Height
	}
	for _, t := range block.Transfers {
		row := l.findRow(t)
		if row.BlockHash != "" {
			l.addViolation("transfer %s is in block %d and again in block %d", t.Key(), row.Height, block.Height)
		}
		row.Height, row.BlockHash, row.Reverted = block.Height, block.Hash, t.Reverted
		row.Gone, row.Reason, row.Rival, row.rivalHeight = false, "", "", 0
	}
	for _, s := range block.Spends {
		l.recordRival(s, block.Height)
	}
	l.hashes[block.Height] = block.Hash
	delete(l.hashes, block.Height-l.keptBlocks)
	l.cursor = chain.Cursor{Block: block.BlockID, Known: true}
}

// applyPending compares the unconfirmed transfers with a mempool snapshot.
func (l *Ledger) applyPending(pending chain.Pending) {
	here := map[string]bool{}
	for _, t := range pending.Transfers {
		if t.Reverted {
			l.addViolation("transfer %s is pending and known to be reverted", t.Key())
		}
		if here[t.Key()] {
			l.addViolation("transfer %s is twice in one picture of the mempool", t.Key())
		}
		here[t.Key()] = true
		if row := l.findRow(t); row.BlockHash == "" && row.rivalHeight == 0 {
			row.Gone, row.Reason, row.Rival = false, "", ""
		}
	}
	for key, row := range l.rows {
		if row.BlockHash == "" && !here[key] && !row.Gone {
			row.Gone, row.Reason = true, "dropped"
		}
	}
	for _, s := range pending.Spends {
		l.recordRival(s, 0)
	}
}

// recordRival records that a transaction used up a spend key at a height; 0 is the mempool.
func (l *Ledger) recordRival(s chain.Spend, height int64) {
	if !l.watch.Spend(s.Key) {
		l.addViolation("spend key %s is not watched", s.Key)
	}
	for _, row := range l.rows {
		if row.BlockHash != "" || row.TxID == s.TxID || (row.rivalHeight > 0 && height == 0) {
			continue
		}
		for _, key := range row.Spends {
			if key == s.Key {
				row.Gone, row.Reason, row.Rival, row.rivalHeight = true, "replaced", s.TxID, height
			}
		}
	}
}

// findRow finds or makes the row of a transfer.
func (l *Ledger) findRow(t chain.Transfer) *Row {
	if !l.watch.Address(t.Address) {
		l.addViolation("transfer %s to %s is not watched", t.Key(), t.Address)
	}
	row, ok := l.rows[t.Key()]
	if !ok {
		row = &Row{Transfer: t}
		row.Reverted = false
		l.rows[t.Key()] = row
		return row
	}
	was := describeOutput(chain.Output{Asset: row.Asset, Destination: row.Destination, Amount: row.Amount})
	if is := describeOutput(chain.Output{Asset: t.Asset, Destination: t.Destination, Amount: t.Amount}); is != was {
		l.addViolation("transfer %s was %s and became %s", t.Key(), was, is)
	}
	if len(t.Spends) > 0 {
		row.Spends = t.Spends
	}
	return row
}

// stateName returns a row's state for its history.
func (r *Row) stateName() string {
	switch {
	case r.BlockHash != "":
		return "confirmed"
	case r.Gone:
		return "gone"
	}
	return "pending"
}

func (l *Ledger) failCall(call string) error {
	if l.Fail == nil {
		return nil
	}
	return l.Fail(call)
}

func (l *Ledger) addViolation(format string, args ...any) {
	l.violations = append(l.violations, fmt.Sprintf(format, args...))
}
