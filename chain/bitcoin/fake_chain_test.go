package bitcoin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/chaintest"
)

// fakeChain is a chain and a mempool of real bytes, made with the wire package. Several fake nodes
// can serve it.
type fakeChain struct {
	testing.TB
	params params.Params

	mu      sync.Mutex
	blocks  []fakeBlock
	txs     map[string]*wire.MsgTx
	pending []string
	minedIn map[string]chain.BlockID
	serial  uint64
	bits    uint32   // of future blocks
	reward  int64    // of the next block; 0 for 50 coins
	spent   []string // outputs that gettxout doesn't show
}

type fakeBlock struct {
	hash string
	raw  []byte
	txs  []string
}

func newFakeChain(t testing.TB, p params.Params) *fakeChain {
	c := &fakeChain{TB: t, params: p, txs: map[string]*wire.MsgTx{}, minedIn: map[string]chain.BlockID{},
		bits: 0x207fffff}
	if p.GenesisBlock == nil {
		c.addBlock(nil)
		return c
	}
	var raw bytes.Buffer
	c.mustSucceed(p.GenesisBlock.Serialize(&raw))
	c.blocks = append(c.blocks, fakeBlock{hash: p.GenesisHash.String(), raw: raw.Bytes()})
	return c
}

// forkChain returns an independent chain with the same blocks and mempool.
func (c *fakeChain) forkChain() *fakeChain {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := &fakeChain{TB: c.TB, params: c.params, txs: map[string]*wire.MsgTx{},
		minedIn: map[string]chain.BlockID{}, serial: c.serial + 1<<32, bits: c.bits}
	other.blocks, other.pending = slices.Clone(c.blocks), slices.Clone(c.pending)
	for id, tx := range c.txs {
		other.txs[id] = tx
	}
	return other
}

// nextSerial returns an unused number.
func (c *fakeChain) nextSerial() uint64 { c.serial++; return c.serial }

// addBlock adds a block with transactions.
func (c *fakeChain) addBlock(ids []string) {
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{}, ^uint32(0)),
		binary.LittleEndian.AppendUint64(nil, c.nextSerial()), nil))
	coinbase.AddTxOut(wire.NewTxOut(cmp.Or(c.reward, 50e8), []byte{0x51}))
	header := &wire.BlockHeader{Version: 4, Bits: c.bits, Timestamp: time.Unix(time.Now().Unix(), 0)}
	if n := len(c.blocks); n > 0 {
		parent, err := chainhash.NewHashFromStr(c.blocks[n-1].hash)
		c.mustSucceed(err)
		header.PrevBlock = *parent
	}
	block := wire.NewMsgBlock(header)
	c.mustSucceed(block.AddTransaction(coinbase))
	for _, id := range ids {
		c.mustSucceed(block.AddTransaction(c.txs[id]))
	}
	block.Header.MerkleRoot = wireMerkleRoot(block)
	for block.Header.BlockHash()[31] >= 0x7f { // half of all hashes are enough work here
		block.Header.Nonce++
	}
	var raw bytes.Buffer
	c.mustSucceed(block.Serialize(&raw))
	c.blocks = append(c.blocks, fakeBlock{block.BlockHash().String(), raw.Bytes(), ids})
	for _, id := range ids {
		c.minedIn[id] = chain.BlockID{Height: int64(len(c.blocks) - 1), Hash: block.BlockHash().String()}
	}
}

// wireMerkleRoot computes the merkle root of a block.
func wireMerkleRoot(block *wire.MsgBlock) chainhash.Hash {
	var level []chainhash.Hash
	for _, tx := range block.Transactions {
		level = append(level, tx.TxHash())
	}
	for len(level) > 1 {
		var above []chainhash.Hash
		for i := 0; i < len(level); i += 2 {
			right := level[min(i+1, len(level)-1)]
			above = append(above, chainhash.DoubleHashH(append(level[i].CloneBytes(), right[:]...)))
		}
		level = above
	}
	return level[0]
}

// removeBlocks removes the last blocks.
func (c *fakeChain) removeBlocks(depth int) []fakeBlock {
	at := len(c.blocks) - depth
	old := slices.Clone(c.blocks[at:])
	for _, b := range old {
		for _, id := range b.txs {
			delete(c.minedIn, id)
		}
	}
	c.blocks = c.blocks[:at]
	return old
}

// sendTx puts a transaction into the mempool.
func (c *fakeChain) sendTx(inputs []*wire.TxIn, outputs ...chain.Output) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tx := wire.NewMsgTx(2)
	for _, in := range inputs {
		tx.AddTxIn(in)
	}
	if inputs == nil {
		for range 2 {
			from := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, c.nextSerial()))
			in := wire.NewTxIn(wire.NewOutPoint((*chainhash.Hash)(&from), uint32(c.serial%3)), nil, nil)
			if c.serial%2 == 0 && c.params.Segwit {
				in.Witness = wire.TxWitness{from[:], {1, 2, 3}}
			}
			tx.AddTxIn(in)
		}
	}
	for _, o := range outputs {
		script := c.params.Script(o.Address)
		if script == nil {
			c.Fatalf("no address of %s: %s", c.params.Network(), o.Address)
		}
		tx.AddTxOut(wire.NewTxOut(o.Amount.Big().Int64(), script))
	}
	id := tx.TxHash().String()
	c.txs[id], c.pending = tx, append(c.pending, id)
	return id
}

func (c *fakeChain) mustSucceed(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// newAddress returns a new address.
func (c *fakeChain) newAddress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := sha256.Sum256(fmt.Appendf(nil, "key %d", c.nextSerial()))
	script := slices.Concat([]byte{0x76, 0xa9, 20}, hash[:20], []byte{0x88, 0xac})
	if c.params.Segwit && c.serial%3 == 0 {
		script = slices.Concat([]byte{0, 20}, hash[:20])
	}
	return c.params.Address(script)
}

// tipID returns the last block's height and hash.
func (c *fakeChain) tipID() chain.BlockID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return chain.BlockID{Height: int64(len(c.blocks) - 1), Hash: c.blocks[len(c.blocks)-1].hash}
}

// mineBlocks mines blocks; the first one takes the pending transactions.
func (c *fakeChain) mineBlocks(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.addBlock(c.pending)
		c.pending = nil
	}
}

// dropTx removes a transaction from the mempool.
func (c *fakeChain) dropTx(txid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = slices.DeleteFunc(c.pending, func(id string) bool { return id == txid })
}

// fakeNet drives a fake chain behind one fake node for the conformance suite.
type fakeNet struct {
	*fakeChain
	node   *fakeNode
	source *Source
}

var _ chaintest.Net = (*fakeNet)(nil)

func (n *fakeNet) Features() chaintest.Features {
	return chaintest.Features{Asset: string(n.params.Coin), Amount: 1000, Mempool: true, MultiOutput: true,
		Replace: true, MaxReorg: 100}
}

func (n *fakeNet) Source() chain.Source { return n.source }

func (n *fakeNet) Restart() { n.source = n.node.openSource(n.TB) }

func (n *fakeNet) Destination() chain.Destination { return chain.Destination{Address: n.newAddress()} }

func (n *fakeNet) Pay(outputs ...chain.Output) string { return n.sendTx(nil, outputs...) }

func (n *fakeNet) Revert(chain.Output) string {
	n.Fatal("no transaction is reverted here")
	return ""
}

func (n *fakeNet) Mine(count int) { n.mineBlocks(count) }

func (n *fakeNet) Reorg(depth int, keep bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range n.removeBlocks(depth) {
		if keep {
			n.addBlock(b.txs)
		} else {
			n.addBlock(nil)
		}
	}
}

func (n *fakeNet) Replace(txid string) string {
	n.mu.Lock()
	inputs := n.txs[txid].TxIn
	n.mu.Unlock()
	n.dropTx(txid)
	return n.sendTx(inputs, chain.Output{Destination: n.Destination()})
}

func (n *fakeNet) Where(txid string) chaintest.Place {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.minedIn[txid]
	return chaintest.Place{Pending: slices.Contains(n.pending, txid), Height: at.Height, Hash: at.Hash}
}

// txBytes serializes a transaction as nodes send it.
func txBytes(t testing.TB, tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Error(err)
	}
	return raw.Bytes()
}
