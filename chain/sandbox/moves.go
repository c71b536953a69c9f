package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/models"
)

// Bounds of one call.
const (
	maxMoves   = 32
	maxAfter   = 10_000 // blocks
	maxOutputs = 100
	maxDepth   = 1000
	maxMine    = 1000
)

// ApplyMoves applies moves in their order, all or none. Moves with After 0 are applied at once, the
// others when the chain has grown by After blocks. ApplyMoves returns the height from which After
// counts.
func (c *Chain) ApplyMoves(ctx context.Context, moves ...chain.Move) (height int64, err error) {
	for _, move := range moves {
		if err := c.checkMove(move); err != nil {
			return 0, err
		}
	}
	if len(moves) > maxMoves {
		return 0, fmt.Errorf("sandbox: %d moves are more than %d", len(moves), maxMoves)
	}
	err = c.updateChain(ctx, func(s *chainUpdate) error {
		height = s.tip.Height
		for _, move := range moves {
			if move.After > 0 {
				if err := s.planMove(move); err != nil {
					return err
				}
			} else if err := s.applyMove(move); err != nil {
				return err
			}
		}
		return nil
	})
	return height, err
}

// Broadcast adds a transaction to the mempool and returns its id.
func (c *Chain) Broadcast(ctx context.Context, tx chain.Tx) (string, error) {
	_, err := c.ApplyMoves(ctx, chain.Move{Kind: chain.MoveBroadcast, Tx: &tx})
	return tx.ID(c.network), err
}

// Mine adds n blocks to the chain and applies the moves that become due. It returns the new
// height.
func (c *Chain) Mine(ctx context.Context, n int) (height int64, err error) {
	if n < 1 || n > maxMine {
		return 0, fmt.Errorf("sandbox: can't mine %d blocks at once, only 1 to %d", n, maxMine)
	}
	err = c.updateChain(ctx, func(s *chainUpdate) error {
		err := s.mineBlocks(n)
		height = s.tip.Height
		return err
	})
	return height, err
}

// checkMove rejects moves that are invalid on the chain.
func (c *Chain) checkMove(m chain.Move) error {
	switch {
	case m.After < 0 || m.After > maxAfter:
		return fmt.Errorf("sandbox: a move can be planned up to %d blocks ahead, not %d", maxAfter, m.After)
	case m.Kind == chain.MoveBroadcast:
		return checkTx(m.Tx)
	case m.Kind == chain.MoveReorg && !c.traits.canReorg:
		return fmt.Errorf("sandbox: %s is never reorganised", c.network)
	case m.Kind == chain.MoveReorg && (m.Depth < 1 || m.Depth > maxDepth):
		return fmt.Errorf("sandbox: can't reorganise %d blocks, only 1 to %d", m.Depth, maxDepth)
	case m.Kind == chain.MoveReorg:
		return nil
	case m.Kind == chain.MoveHold || m.Kind == chain.MoveRelease || m.Kind == chain.MoveDrop:
		if len(m.TxIDs) == 0 {
			return fmt.Errorf("sandbox: a move %q names no transaction", m.Kind)
		}
		return nil
	}
	return fmt.Errorf("sandbox: no move %q", m.Kind)
}

func checkTx(tx *chain.Tx) error {
	switch {
	case tx == nil || len(tx.Outputs) == 0 || len(tx.Outputs) > maxOutputs:
		return fmt.Errorf("sandbox: a transaction has 1 to %d outputs", maxOutputs)
	case len(tx.Spends) == 0 || len(tx.Spends) > chain.MaxSpends:
		return fmt.Errorf("sandbox: a transaction uses up 1 to %d spend keys", chain.MaxSpends)
	}
	for _, o := range tx.Outputs {
		if o.Amount.Sign() <= 0 || o.Address == "" || o.Asset == "" {
			return errors.New("sandbox: an output needs an amount above zero, an address and an asset")
		}
	}
	return nil
}

// chainUpdate is one change of a chain. It holds the chain's lock.
type chainUpdate struct {
	*Chain
	tx  *models.Tx
	tip models.SandboxBlock
}

// updateChain runs fn in a database transaction that locks the chain.
func (c *Chain) updateChain(ctx context.Context, fn func(*chainUpdate) error) error {
	err := c.db.Write(ctx, func(tx *models.Tx) error {
		s := &chainUpdate{Chain: c, tx: tx}
		err := s.lockChain()
		if err == nil {
			s.tip, err = c.readTip(tx)
		}
		if err != nil {
			return err
		}
		return fn(s)
	})
	if err == nil {
		c.Wake()
	}
	return err
}

// lockChain waits for every other change of the chain. SQLite needs no lock, because it has a
// single writer.
func (s *chainUpdate) lockChain() error {
	if !models.IsPostgres(s.tx) {
		return nil
	}
	var height int64
	err := s.tx.Raw("SELECT height FROM sandbox_blocks WHERE network = ? AND height = 0 FOR UPDATE", s.network).
		Find(&height).Error
	if err != nil {
		return fmt.Errorf("sandbox: lock %s: %w", s.network, err)
	}
	return nil
}

// planMove stores a move for later.
func (s *chainUpdate) planMove(move chain.Move) error {
	body, err := json.Marshal(move)
	if err == nil {
		err = s.tx.Create(&models.SandboxPlan{Network: string(s.network), Height: s.tip.Height + move.After,
			Body: string(body)}).Error
	}
	if err != nil {
		return fmt.Errorf("sandbox: plan a %s: %w", move.Kind, err)
	}
	return nil
}

// applyMove applies a move now. It skips transactions that are not in the state that the move
// expects, because they may have changed since the move was planned.
func (s *chainUpdate) applyMove(move chain.Move) (err error) {
	waiting := s.tx.Where("network = ? AND height IS NULL AND tx_id IN ?", s.network, move.TxIDs)
	switch move.Kind {
	case chain.MoveBroadcast:
		err = s.addToMempool(*move.Tx, move.Held)
	case chain.MoveHold, chain.MoveRelease:
		err = waiting.Model(&models.SandboxTx{}).Update("held", move.Kind == chain.MoveHold).Error
	case chain.MoveDrop:
		err = waiting.Delete(&models.SandboxTx{}).Error
	case chain.MoveReorg:
		err = s.replaceBlocks(move.Depth, move.TxIDs, move.Held)
	}
	if err != nil {
		return fmt.Errorf("sandbox: %s on %s: %w", move.Kind, s.network, err)
	}
	return nil
}

func (s *chainUpdate) addToMempool(tx chain.Tx, held bool) error {
	body, err := json.Marshal(tx)
	if err != nil {
		return err
	}
	id, known := tx.ID(s.network), int64(0)
	err = s.tx.Model(&models.SandboxTx{}).Where("network = ? AND tx_id = ?", s.network, id).Count(&known).Error
	if err != nil || known > 0 {
		return err
	}
	return s.tx.Create(&models.SandboxTx{Network: string(s.network), TxID: id, Held: held, Body: string(body),
		CreatedAt: s.clock()}).Error
}

// mineBlocks adds n blocks. Empty blocks in a row are inserted together.
func (s *chainUpdate) mineBlocks(n int) error {
	from := s.tip.Height
	for n > 0 {
		if err := s.mineFullBlock(); err != nil {
			return err
		}
		n--
		empty, err := s.countEmptyBlocks(n)
		if err != nil {
			return err
		}
		blocks := make([]models.SandboxBlock, empty)
		for i := range blocks {
			blocks[i] = s.sealBlock(nil)
		}
		if err := s.insertBlocks(blocks); err != nil {
			return err
		}
		n -= empty
	}
	if from/pruneEvery == s.tip.Height/pruneEvery {
		return nil
	}
	return s.pruneBlocks()
}

// countEmptyBlocks returns how many of the next n blocks will be empty and have no planned moves.
func (s *chainUpdate) countEmptyBlocks(n int) (int, error) {
	waiting, err := s.oldestPending(s.tx)
	if err != nil || len(waiting) > 0 {
		return 0, err
	}
	var plans []models.SandboxPlan
	if err := s.tx.Where("network = ?", s.network).Order("height").Limit(1).Find(&plans).Error; err != nil {
		return 0, fmt.Errorf("sandbox: read plans: %w", err)
	}
	if len(plans) > 0 {
		n = min(n, int(plans[0].Height-s.tip.Height-1))
	}
	return n, nil
}

// sealBlock makes the block after the tip and moves the tip. It does not write to the database.
func (s *chainUpdate) sealBlock(txids []string) models.SandboxBlock {
	block := models.SandboxBlock{Network: string(s.network), Height: s.tip.Height + 1, Parent: s.tip.Hash,
		Time: s.clock()}
	block.Hash = blockHash(block, txids)
	s.tip = block
	return block
}

// insertBlocks stores new blocks.
func (s *chainUpdate) insertBlocks(blocks []models.SandboxBlock) error {
	if len(blocks) == 0 {
		return nil
	}
	if err := s.tx.Create(blocks).Error; err != nil {
		return fmt.Errorf("sandbox: write blocks from %d: %w", blocks[0].Height, err)
	}
	return nil
}

// mineFullBlock adds one block with the pending transactions, then applies the moves that are
// planned for its height.
func (s *chainUpdate) mineFullBlock() error {
	rows, err := s.readMempool(s.tx)
	if err != nil {
		return err
	}
	var txids []string
	for _, row := range rows {
		if !row.Held {
			txids = append(txids, row.TxID)
		}
	}
	if err := s.insertBlocks([]models.SandboxBlock{s.sealBlock(txids)}); err != nil {
		return err
	}
	for part := range slices.Chunk(txids, 500) {
		err := s.tx.Model(&models.SandboxTx{}).Where("network = ? AND height IS NULL AND tx_id IN ?", s.network, part).
			Update("height", s.tip.Height).Error
		if err != nil {
			return fmt.Errorf("sandbox: fill block %d: %w", s.tip.Height, err)
		}
	}
	return s.applyPlans()
}

// applyPlans applies the moves that are planned up to the height of the tip.
func (s *chainUpdate) applyPlans() error {
	var plans []models.SandboxPlan
	err := s.tx.Where("network = ? AND height <= ?", s.network, s.tip.Height).Order("height, id").Find(&plans).Error
	if err != nil {
		return fmt.Errorf("sandbox: read plans: %w", err)
	}
	for _, plan := range plans {
		var move chain.Move
		if err := json.Unmarshal([]byte(plan.Body), &move); err != nil {
			return fmt.Errorf("sandbox: read plan %d: %w", plan.ID, err)
		}
		if err := s.applyMove(move); err != nil {
			return err
		}
		if err := s.tx.Delete(&plan).Error; err != nil {
			return fmt.Errorf("sandbox: finish plan %d: %w", plan.ID, err)
		}
	}
	return nil
}

// replaceBlocks replaces the last blocks by new ones with the same transactions, except for the
// dropped ones, which leave the chain. They leave the mempool too or, with hold, wait in it. It
// replaces more than depth blocks if a dropped transaction is deeper, because blocks may have been
// added since the depth was chosen.
func (s *chainUpdate) replaceBlocks(depth int, drop []string, hold bool) error {
	var lowest []models.SandboxTx
	err := s.tx.Select("height").Where("network = ? AND height IS NOT NULL AND tx_id IN ?", s.network, drop).
		Order("height").Limit(1).Find(&lowest).Error
	if err != nil {
		return err
	}
	if len(lowest) > 0 {
		depth = max(depth, int(s.tip.Height-*lowest[0].Height+1))
	}
	if int64(depth) > s.tip.Height {
		return fmt.Errorf("the chain has only %d blocks that can be replaced", s.tip.Height)
	}
	dropped := s.tx.Where("network = ? AND tx_id IN ?", s.network, drop)
	switch {
	case len(drop) > 0 && hold:
		err = dropped.Model(&models.SandboxTx{}).Updates(map[string]any{"height": nil, "held": true}).Error
	case len(drop) > 0:
		err = dropped.Delete(&models.SandboxTx{}).Error
	}
	if err != nil {
		return err
	}
	var blocks []models.SandboxBlock // with the block below them, which stays
	err = s.tx.Where("network = ? AND height >= ?", s.network, s.tip.Height-int64(depth)).Order("height").
		Find(&blocks).Error
	if err != nil {
		return err
	}
	if len(blocks) != depth+1 {
		return errors.New("blocks of that depth are pruned")
	}
	txids, err := s.minedTxIDs(blocks[0].Height)
	if err != nil {
		return err
	}
	s.tip = blocks[0]
	if err := s.tx.Where("network = ? AND height > ?", s.network, s.tip.Height).Delete(&models.SandboxBlock{}).
		Error; err != nil {
		return err
	}
	for i := range blocks[1:] {
		block := &blocks[i+1]
		block.Parent, block.Branch, block.Time = s.tip.Hash, block.Branch+1, s.clock()
		block.Hash = blockHash(*block, txids[block.Height])
		s.tip = *block
	}
	return s.insertBlocks(blocks[1:])
}

// minedTxIDs returns the transactions above a height, grouped by height.
func (s *chainUpdate) minedTxIDs(above int64) (map[int64][]string, error) {
	var rows []models.SandboxTx
	err := s.tx.Select("tx_id", "height").Where("network = ? AND height > ?", s.network, above).Order("id").
		Find(&rows).Error
	out := map[int64][]string{}
	for _, row := range rows {
		out[*row.Height] = append(out[*row.Height], row.TxID)
	}
	return out, err
}
