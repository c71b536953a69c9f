package nodes

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"math"
	"time"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Mine puts n blocks on the chain, the first with the transactions of the mempool. Two blocks
// are never the same: the address is fresh, or btcd picks a random nonce.
func (n *Node) Mine(count int) {
	n.t.Helper()
	if n.kind.witness {
		n.Call("generate", nil, count)
	} else {
		n.Call("generatetoaddress", nil, count, n.UnknownAddress())
	}
}

// MineEmpty puts blocks without transactions on the chain.
func (n *Node) MineEmpty(count int) {
	n.t.Helper()
	for range count {
		if n.kind.witness {
			n.MineReward()
		} else {
			n.Call("generateblock", nil, n.UnknownAddress(), []string{})
		}
	}
}

// Reorg replaces the last blocks by a longer branch. With keep it holds the
// same transactions; without, it is empty, and they wait in the mempool again.
func (n *Node) Reorg(depth int64, keep bool) {
	n.t.Helper()
	height, _ := n.Tip()
	if height-depth < n.Funded {
		n.t.Fatalf("a reorganisation of %d blocks would undo the payer's coins", depth)
	}
	n.Call("invalidateblock", nil, n.blockHash(height-depth+1))
	if keep {
		n.Mine(int(depth) + 1)
	} else {
		n.MineEmpty(int(depth) + 1)
	}
}

// InvalidateBlocks takes the last blocks back and returns the lowest of them, for ReconsiderBlock.
func (n *Node) InvalidateBlocks(depth int64) (block string) {
	n.t.Helper()
	height, _ := n.Tip()
	block = n.blockHash(height - depth + 1)
	n.Call("invalidateblock", nil, block)
	return block
}

// ReconsiderBlock puts back what InvalidateBlocks took.
func (n *Node) ReconsiderBlock(block string) {
	n.t.Helper()
	n.Call("reconsiderblock", nil, block)
}

// MineReward mines a block by hand on btcd, with nothing in it but a reward that pays these
// outputs. The rest of it is lost.
func (n *Node) MineReward(outputs ...Output) (txid string) {
	n.t.Helper()
	height, tip := n.Tip()
	parent := n.readBlock(tip).Header
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce) // never fails
	script, err := txscript.NewScriptBuilder().AddInt64(height + 1).AddData(nonce).Script()
	if err != nil {
		n.t.Fatal(err)
	}
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: math.MaxUint32}, script, nil))
	for _, to := range outputs {
		coinbase.AddTxOut(wire.NewTxOut(to.Amount, n.payer.scriptOf(to.Address)))
	}
	if len(outputs) == 0 {
		coinbase.AddTxOut(wire.NewTxOut(0, n.payer.script))
	}
	block := wire.NewMsgBlock(&wire.BlockHeader{
		Version: 0x20000000, PrevBlock: hashOf(n.t, tip), MerkleRoot: coinbase.TxHash(), Bits: parent.Bits,
		Timestamp: time.Unix(max(time.Now().Unix(), parent.Timestamp.Unix()+1), 0),
	})
	for hash := block.BlockHash(); hash[len(hash)-1] > 0x7e; hash = block.BlockHash() {
		block.Header.Nonce++ // the target's highest byte is 0x7f
	}
	if err := block.AddTransaction(coinbase); err != nil {
		n.t.Fatal(err)
	}
	var raw bytes.Buffer
	if err := block.Serialize(&raw); err != nil {
		n.t.Fatal(err)
	}
	var refused *string
	n.Call("submitblock", &refused, hex.EncodeToString(raw.Bytes()))
	if refused != nil {
		n.t.Fatalf("the block was refused: %s", *refused)
	}
	return coinbase.TxHash().String()
}
