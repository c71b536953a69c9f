package tron

import (
	"sync"

	"cointill/chain"
)

const (
	// maxKeptBlocks is how many blocks are kept: more than a follower reads for one batch, so that a batch whose
	// reading fails in the middle goes on there.
	maxKeptBlocks = 120
	// maxKeptMovements bounds the movements of all kept blocks, which take some 120 bytes each.
	maxKeptMovements = 200_000
)

// blockCache keeps the last blocks of one branch after they were read and confirmed. It is safe for concurrent use.
type blockCache struct {
	mu        sync.Mutex
	blocks    map[int64]*readBlock
	movements int
}

// findBlock returns the kept block at a height, or nil. A kept block that isn't the tip shows another branch, and
// nothing of it is used any more.
func (c *blockCache) findBlock(height int64, tip chain.BlockID) *readBlock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.blocks[tip.Height]; b != nil && b.Hash != tip.Hash {
		c.dropBlocks()
	}
	return c.blocks[height]
}

// keepBlock adds a block. If it doesn't fit to its neighbours they are of another branch, and dropped.
func (c *blockCache) keepBlock(b *readBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	below, above := c.blocks[b.Height-1], c.blocks[b.Height+1]
	if below != nil && below.Hash != b.Parent || above != nil && above.Parent != b.Hash ||
		c.movements+len(b.movements) > maxKeptMovements {
		c.dropBlocks()
	}
	for _, height := range []int64{b.Height, b.Height - maxKeptBlocks} {
		if old := c.blocks[height]; old != nil {
			c.movements -= len(old.movements)
			delete(c.blocks, height)
		}
	}
	if len(c.blocks) >= maxKeptBlocks {
		c.dropBlocks()
	}
	if c.blocks == nil {
		c.blocks = map[int64]*readBlock{}
	}
	c.blocks[b.Height] = b
	c.movements += len(b.movements)
}

// dropBlocks forgets every block. The caller holds the lock.
func (c *blockCache) dropBlocks() { c.blocks, c.movements = nil, 0 }
