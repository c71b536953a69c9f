// Package sandbox simulates the networks of the test domain: one chain for each network that payments are
// made on. Those of Ethereum's kind follow from the registry. Chains are kept in the database and shared by
// all processes on it. Each implements chain.Source, and accepts moves that control its events:
// see chain.Move.
//
// The simulation is deterministic. The id of a transaction is the SHA-256 of its content. The hash
// of a block covers its parent, its transactions and how often the block at its height was
// replaced. Every change is one database transaction under a lock on the chain.
package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/models"
)

// Chain is one simulated network. It wakes its subscribers after each change that this process commits.
type Chain struct {
	chain.Subscribers
	db      *models.DB
	network chain.Network
	clock   func() time.Time
	traits  chainTraits
}

var (
	_ chain.Source      = (*Chain)(nil)
	_ chain.RangeReader = (*Chain)(nil)
)

// chainTraits are the properties of a kind of network.
type chainTraits struct {
	interval      time.Duration // between blocks on a busy chain
	finalityDepth int64         // blocks from the tip to the finalized block; -1 means that the network has no finality
	hasMempool    bool          // pending transactions are visible
	canReorg      bool
}

// Blocks of networks of Ethereum's kind come speedup times as often as in life, but not more often than every
// minInterval: each is a write to the database.
const (
	speedup     = 10
	minInterval = 150 * time.Millisecond
)

// traitsOf returns the properties of a network. With these intervals the deepest default
// confirmation depth (BTC 3, DOGE 40, XRP 1, Ethereum's kind as the registry has it and finalized) is reached
// within 25 s.
func traitsOf(kind money.Chain) (chainTraits, error) {
	if facts, ok := money.FindNetworkFacts(kind); ok {
		return chainTraits{max(facts.BlockTime/speedup, minInterval), int64(facts.Finality.Depth), kind != money.Tron,
			true}, nil
	}
	switch kind {
	case money.Bitcoin:
		return chainTraits{4 * time.Second, -1, true, true}, nil
	case money.Dogecoin:
		return chainTraits{500 * time.Millisecond, -1, true, true}, nil
	case money.XRPL: // only validated ledgers are visible, and they are final
		return chainTraits{2 * time.Second, 0, false, false}, nil
	}
	return chainTraits{}, fmt.Errorf("sandbox: no chain %q", kind)
}

// Open opens a chain of the database, and adds its first block if there is none.
func Open(ctx context.Context, db *models.DB, kind money.Chain, clock func() time.Time) (*Chain, error) {
	r, err := traitsOf(kind)
	if err != nil {
		return nil, err
	}
	c := &Chain{db: db, network: chain.Sandbox(kind), clock: clock, traits: r}
	genesis := models.SandboxBlock{Network: string(c.network), Time: clock()}
	genesis.Hash = blockHash(genesis, nil)
	err = db.Exec(ctx).Exec(`INSERT INTO sandbox_blocks (network, height, hash, parent, branch, time)
		VALUES (?, 0, ?, '', 0, ?) ON CONFLICT DO NOTHING`, genesis.Network, genesis.Hash, genesis.Time).Error
	if err != nil {
		return nil, fmt.Errorf("sandbox: first block of %s: %w", kind, err)
	}
	return c, nil
}

// Network returns the chain's name.
func (c *Chain) Network() chain.Network { return c.network }

// Interval returns the time between blocks on a busy chain.
func (c *Chain) Interval() time.Duration { return c.traits.interval }

// At implements chain.Source.
func (c *Chain) At(ctx context.Context) (chain.View, error) {
	tip, err := c.readTip(c.db.Read(ctx))
	if err != nil {
		return chain.View{}, err
	}
	finalized := int64(-1)
	if c.traits.finalityDepth >= 0 {
		finalized = max(0, tip.Height-c.traits.finalityDepth)
	}
	return chain.View{Tip: chain.Tip{Header: toHeader(tip), Finalized: finalized}, Reader: c}, nil
}

// Header implements chain.Reader.
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

// Block implements chain.Reader.
func (c *Chain) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	blocks, err := c.Blocks(ctx, height, height, watch)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

// Blocks implements chain.RangeReader. It reads the blocks and their transactions in one statement, so that
// they are consistent during a reorganisation.
func (c *Chain) Blocks(ctx context.Context, from, to int64, watch chain.Watch) (blocks []chain.Block, err error) {
	var rows []struct {
		models.SandboxBlock
		Body *string
	}
	err = c.db.Read(ctx).Raw(`SELECT b.*, t.body FROM sandbox_blocks b
		LEFT JOIN sandbox_txes t ON t.network = b.network AND t.height = b.height
		WHERE b.network = ? AND b.height BETWEEN ? AND ? ORDER BY b.height, t.id`, c.network, from, to).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("sandbox: read blocks %d to %d: %w", from, to, err)
	}
	if len(rows) == 0 || rows[0].Height != from {
		return nil, c.missingBlockError(ctx, from)
	}
	for _, row := range rows {
		if last := len(blocks) - 1; last < 0 || blocks[last].Height != row.Height {
			blocks = append(blocks, chain.Block{Header: toHeader(row.SandboxBlock)})
		}
		if row.Body == nil {
			continue // an empty block
		}
		tx, err := parseTx(*row.Body)
		if err != nil {
			return nil, err
		}
		block := &blocks[len(blocks)-1]
		transfers, spends := tx.MatchWatch(c.network, watch)
		block.Transfers, block.Spends = append(block.Transfers, transfers...), append(block.Spends, spends...)
	}
	return blocks, nil
}

// missingBlockError returns the error for a height without a block.
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

// Pending implements chain.Reader.
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
		transfers, spends := tx.MatchWatch(c.network, watch)
		for i := range transfers {
			transfers[i].Reverted = false // known only in a block
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

// blockHash computes a block's hash from its content.
func blockHash(b models.SandboxBlock, txids []string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %d %s", b.Network, b.Height, b.Parent, b.Branch,
		strings.Join(txids, " ")))
	return hex.EncodeToString(sum[:])
}

func parseTx(body string) (tx chain.Tx, err error) {
	if err = json.Unmarshal([]byte(body), &tx); err != nil {
		err = fmt.Errorf("sandbox: read a transaction: %w", err)
	}
	return tx, err
}
