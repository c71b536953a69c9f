// Package sandbox is the simulated networks of the test domain: one chain for
// each kind of network (ETH and USDT share the Ethereum one, as they do in
// life), kept in the database, shared by every process on it. Each implements
// chain.Source, and can be told what happens on it: see chain.Move.
//
// It is deterministic: the name of a transaction is the SHA-256 of its content,
// that of a block covers its parent, its transactions and how often its place was
// reorganised. Every change is one transaction under a lock on the chain.
package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/models"
)

// Chain is one simulated network.
type Chain struct {
	db      *models.DB
	kind    money.Chain
	network chain.Network
	clock   func() time.Time
	traits  chainTraits

	mu           sync.Mutex
	listeners    map[int]func() // by number
	lastListener int            // number of the last one
}

var _ chain.Source = (*Chain)(nil)

// chainTraits is how a kind of network behaves.
type chainTraits struct {
	interval      time.Duration // between blocks while something is going on
	finalityDepth int64         // blocks from the tip to what is finalized; -1: no such notion
	hasMempool    bool          // pending transactions can be seen
	canReorg      bool
}

// rhythms make the deepest final depth that is asked for by default (BTC 3, DOGE
// 40, ETH 12 and finalized, XRP 1) settle within 25 s.
func traitsOf(kind money.Chain) (chainTraits, error) {
	switch kind {
	case money.Bitcoin:
		return chainTraits{4 * time.Second, -1, true, true}, nil
	case money.Dogecoin:
		return chainTraits{500 * time.Millisecond, -1, true, true}, nil
	case money.Ethereum:
		return chainTraits{1200 * time.Millisecond, 12, true, true}, nil
	case money.XRPL: // only validated ledgers are seen, and they stay
		return chainTraits{2 * time.Second, 0, false, false}, nil
	}
	return chainTraits{}, fmt.Errorf("sandbox: no chain %q", kind)
}

// Open opens a chain of the database, and makes its first block when there is none.
func Open(ctx context.Context, db *models.DB, kind money.Chain, clock func() time.Time) (*Chain, error) {
	r, err := traitsOf(kind)
	if err != nil {
		return nil, err
	}
	c := &Chain{db: db, kind: kind, network: chain.Sandbox(kind), clock: clock, traits: r}
	genesis := models.SandboxBlock{Network: string(c.network), Time: clock()}
	genesis.Hash = blockHash(genesis, nil)
	err = db.Exec(ctx).Exec(`INSERT INTO sandbox_blocks (network, height, hash, parent, branch, time)
		VALUES (?, 0, ?, '', 0, ?) ON CONFLICT DO NOTHING`, genesis.Network, genesis.Hash, genesis.Time).Error
	if err != nil {
		return nil, fmt.Errorf("sandbox: first block of %s: %w", kind, err)
	}
	return c, nil
}

// Network is the chain's name.
func (c *Chain) Network() chain.Network { return c.network }

// Interval is the time between blocks while something is going on.
func (c *Chain) Interval() time.Duration { return c.traits.interval }

// Notify has a function called after each change that this process commits, until
// stop is called: a follower's Wake. It must not block.
func (c *Chain) Notify(listener func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listeners == nil {
		c.listeners = map[int]func(){}
	}
	c.lastListener++
	id := c.lastListener
	c.listeners[id] = listener
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listeners, id)
	}
}

func (c *Chain) notifyListeners() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, listener := range c.listeners {
		listener()
	}
}

// Tip implements chain.Source.
func (c *Chain) Tip(ctx context.Context) (chain.Tip, error) {
	tip, err := c.readTip(c.db.Read(ctx))
	if err != nil {
		return chain.Tip{}, err
	}
	finalized := int64(-1)
	if c.traits.finalityDepth >= 0 {
		finalized = max(0, tip.Height-c.traits.finalityDepth)
	}
	return chain.Tip{Header: toHeader(tip), Finalized: finalized}, nil
}

// Header implements chain.Source.
func (c *Chain) Header(ctx context.Context, height int64) (chain.Header, error) {
	var blocks []models.SandboxBlock
	err := c.db.Read(ctx).Where("network = ? AND height = ?", c.network, height).Limit(1).Find(&blocks).Error
	if err != nil {
		return chain.Header{}, fmt.Errorf("sandbox: read block %d: %w", height, err)
	}
	if len(blocks) == 0 {
		return chain.Header{}, c.missingBlockError(ctx, height)
	}
	return toHeader(blocks[0]), nil
}

// Block implements chain.Source. One statement reads block and transactions, so
// that a reorganisation can't come between.
func (c *Chain) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	var rows []struct {
		models.SandboxBlock
		Body *string
	}
	err := c.db.Read(ctx).Raw(`SELECT b.*, t.body FROM sandbox_blocks b
		LEFT JOIN sandbox_txes t ON t.network = b.network AND t.height = b.height
		WHERE b.network = ? AND b.height = ? ORDER BY t.id`, c.network, height).Find(&rows).Error
	if err != nil {
		return chain.Block{}, fmt.Errorf("sandbox: read block %d: %w", height, err)
	}
	if len(rows) == 0 {
		return chain.Block{}, c.missingBlockError(ctx, height)
	}
	block := chain.Block{Header: toHeader(rows[0].SandboxBlock)}
	for _, row := range rows {
		if row.Body == nil {
			continue // an empty block
		}
		tx, err := parseTx(*row.Body)
		if err != nil {
			return chain.Block{}, err
		}
		transfers, spends := tx.Concerning(c.network, watch)
		block.Transfers, block.Spends = append(block.Transfers, transfers...), append(block.Spends, spends...)
	}
	return block, nil
}

// missingBlockError says why there is no block at a height.
func (c *Chain) missingBlockError(ctx context.Context, height int64) error {
	tip, err := c.readTip(c.db.Read(ctx))
	if err != nil {
		return err
	}
	if height > tip.Height {
		return chain.ErrNoBlock
	}
	return fmt.Errorf("sandbox: block %d is pruned", height)
}

// Pending implements chain.Source.
func (c *Chain) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	var pending chain.Pending
	if !c.traits.hasMempool {
		return pending, ctx.Err()
	}
	rows, err := c.readMempool(c.db.Read(ctx))
	if err != nil {
		return pending, err
	}
	for _, row := range rows {
		tx, err := parseTx(row.Body)
		if err != nil {
			return pending, err
		}
		transfers, spends := tx.Concerning(c.network, watch)
		for i := range transfers {
			transfers[i].Reverted = false // only a block knows
		}
		pending.Transfers, pending.Spends = append(pending.Transfers, transfers...), append(pending.Spends, spends...)
	}
	return pending, nil
}

// readTip reads the last block.
func (c *Chain) readTip(tx *models.Tx) (models.SandboxBlock, error) {
	var blocks []models.SandboxBlock
	err := tx.Where("network = ?", c.network).Order("height DESC").Limit(1).Find(&blocks).Error
	if err == nil && len(blocks) == 0 {
		err = errors.New("it has no blocks: its tables were emptied while it ran")
	}
	if err != nil {
		return models.SandboxBlock{}, fmt.Errorf("sandbox: read the tip of %s: %w", c.network, err)
	}
	return blocks[0], nil
}

// readMempool reads the transactions that are in no block, oldest first.
func (c *Chain) readMempool(tx *models.Tx) (rows []models.SandboxTx, err error) {
	if err = tx.Where("network = ? AND height IS NULL", c.network).Order("id").Find(&rows).Error; err != nil {
		err = fmt.Errorf("sandbox: read the mempool of %s: %w", c.network, err)
	}
	return rows, err
}

func toHeader(b models.SandboxBlock) chain.Header {
	return chain.Header{BlockID: chain.BlockID{Height: b.Height, Hash: b.Hash}, Parent: b.Parent, Time: b.Time.UTC()}
}

// blockHash names a block by its content.
func blockHash(b models.SandboxBlock, txids []string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %d %s", b.Network, b.Height, b.Parent, b.Branch, strings.Join(txids, " ")))
	return hex.EncodeToString(sum[:])
}

func parseTx(body string) (tx chain.Tx, err error) {
	if err = json.Unmarshal([]byte(body), &tx); err != nil {
		err = fmt.Errorf("sandbox: read a transaction: %w", err)
	}
	return tx, err
}
