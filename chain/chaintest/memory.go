package chaintest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"cointill/chain"
)

// Memory is the smallest network: a chain and a mempool in memory. It tests the Follower and this
// suite itself, and shows what a Net has to do.
type Memory struct {
	mu      sync.Mutex
	blocks  []memoryBlock
	txs     map[string]chain.Tx
	pending []string
	branch  int // makes the blocks of each reorganisation unique
	serial  int
	minedIn map[string]chain.BlockID // the block of each mined transaction
}

type memoryBlock struct {
	chain.Header
	txs []string
}

var (
	_ Net          = (*Memory)(nil)
	_ chain.Source = (*Memory)(nil)
)

// NewMemory makes a network of one block.
func NewMemory() *Memory {
	m := &Memory{txs: map[string]chain.Tx{}, minedIn: map[string]chain.BlockID{}}
	m.addBlock(nil)
	return m
}

// Features implements Net.
func (m *Memory) Features() Features {
	return Features{Asset: "MEM", Amount: 1000, Mempool: true, MultiOutput: true, Replace: true, Reverts: true,
		MaxReorg: 1000, Walk: 300}
}

// Source implements Net: it is the network itself.
func (m *Memory) Source() chain.Source { return m }

// Restart implements Net; it does nothing.
func (m *Memory) Restart() {}

// Destination implements Net.
func (m *Memory) Destination() chain.Destination {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serial++
	return chain.Destination{Address: fmt.Sprint("memory-", m.serial)}
}

// Pay implements Net.
func (m *Memory) Pay(outputs ...chain.Output) string { return m.addTx(chain.Tx{Outputs: outputs}) }

// Revert implements Net.
func (m *Memory) Revert(output chain.Output) string {
	return m.addTx(chain.Tx{Outputs: []chain.Output{output}, Reverted: true})
}

// Replace implements Net.
func (m *Memory) Replace(txid string) string {
	m.mu.Lock()
	spends := m.txs[txid].Spends
	m.pending = slices.DeleteFunc(m.pending, func(id string) bool { return id == txid })
	m.mu.Unlock()
	nobody := chain.Output{Asset: "MEM", Destination: m.Destination()}
	return m.addTx(chain.Tx{Outputs: []chain.Output{nobody}, Spends: spends})
}

func (m *Memory) addTx(tx chain.Tx) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if tx.Spends == nil {
		m.serial++
		tx.Spends = []string{fmt.Sprint("coin-", m.serial)}
	}
	id := tx.ID("memory")
	m.txs[id], m.pending = tx, append(m.pending, id)
	return id
}

// Mine implements Net.
func (m *Memory) Mine(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		m.addBlock(m.pending)
		m.pending = nil
	}
}

// Reorg implements Net. The new branch is as high as the old one.
func (m *Memory) Reorg(depth int, keep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := slices.Clone(m.removeBlocks(depth))
	m.branch++
	for _, b := range old {
		if keep {
			m.addBlock(b.txs)
		} else {
			m.addBlock(nil)
		}
	}
}

// DropBlocks removes blocks without a new branch, like a node in the middle of a reorganisation. Their
// transactions are pending again.
func (m *Memory) DropBlocks(depth int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.removeBlocks(depth) {
		m.pending = append(m.pending, b.txs...)
	}
	m.branch++
}

// Where implements Net.
func (m *Memory) Where(txid string) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.minedIn[txid]
	return Place{Pending: slices.Contains(m.pending, txid), Height: at.Height, Hash: at.Hash}
}

// removeBlocks removes the last blocks and returns them.
func (m *Memory) removeBlocks(depth int) []memoryBlock {
	at := len(m.blocks) - depth
	old := m.blocks[at:]
	for _, b := range old {
		for _, id := range b.txs {
			delete(m.minedIn, id)
		}
	}
	m.blocks = m.blocks[:at]
	return old
}

// addBlock adds a block.
func (m *Memory) addBlock(txs []string) {
	height, parent := int64(len(m.blocks)), ""
	if height > 0 {
		parent = m.blocks[height-1].Hash
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %v", height, parent, m.branch, txs))
	header := chain.Header{BlockID: chain.BlockID{Height: height, Hash: hex.EncodeToString(sum[:])}, Parent: parent,
		Time: time.Unix(1700000000+height, 0).UTC()}
	m.blocks = append(m.blocks, memoryBlock{header, txs})
	for _, id := range txs {
		m.minedIn[id] = header.BlockID
	}
}

// At implements chain.Source.
func (m *Memory) At(ctx context.Context) (chain.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return chain.View{Tip: chain.Tip{Header: m.blocks[len(m.blocks)-1].Header, Finalized: -1}, Reader: m}, ctx.Err()
}

// Header implements chain.Reader.
func (m *Memory) Header(ctx context.Context, height int64) (chain.Header, error) {
	block, err := m.Block(ctx, height, new(chain.WatchSet))
	return block.Header, err
}

// Block implements chain.Reader.
func (m *Memory) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if height < 0 || height >= int64(len(m.blocks)) {
		return chain.Block{}, chain.ErrNoBlock
	}
	block := chain.Block{Header: m.blocks[height].Header}
	for _, id := range m.blocks[height].txs {
		transfers, spends := m.txs[id].MatchWatch("memory", watch)
		block.Transfers, block.Spends = append(block.Transfers, transfers...), append(block.Spends, spends...)
	}
	return block, ctx.Err()
}

// Pending implements chain.Reader.
func (m *Memory) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var p chain.Pending
	for _, id := range m.pending {
		tx := m.txs[id]
		transfers, spends := tx.MatchWatch("memory", watch)
		for i := range transfers {
			transfers[i].Reverted = false
		}
		p.Transfers, p.Spends = append(p.Transfers, transfers...), append(p.Spends, spends...)
	}
	return p, ctx.Err()
}
