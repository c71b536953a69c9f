package bitcoin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// readVector reads bytes from a file of hexadecimal digits in testdata/decode.
func readVector(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/decode/" + name + ".hex")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wireBytes serializes a message with the wire package.
func wireBytes(message interface{ Serialize(io.Writer) error }) []byte {
	var raw bytes.Buffer
	if err := message.Serialize(&raw); err != nil {
		panic(err) // a buffer takes everything
	}
	return raw.Bytes()
}

// wireRoot returns the merkle root over a block's transactions.
func wireRoot(block *wire.MsgBlock) chainhash.Hash {
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	root, _ := textbookRoot(ids)
	return root
}

// blockOf returns a block with a coinbase and the transactions.
func blockOf(txs ...*wire.MsgTx) *wire.MsgBlock {
	block := &wire.MsgBlock{Header: wire.BlockHeader{
		Version: 0x20000000, PrevBlock: chainhash.Hash{1, 2, 3}, Timestamp: time.Unix(1_700_000_000, 0),
		Bits: 0x207fffff, Nonce: 7}}
	block.Transactions = append([]*wire.MsgTx{coinbaseTx(uint64(len(txs)))}, txs...)
	block.Header.MerkleRoot = wireRoot(block)
	return block
}

// coinbaseTx returns a coinbase; tag makes it unique.
func coinbaseTx(tag uint64) *wire.MsgTx {
	tx := wire.NewMsgTx(1)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{}, nullIndex),
		binary.LittleEndian.AppendUint64(nil, tag), nil))
	tx.AddTxOut(wire.NewTxOut(50e8, []byte{0x51}))
	return tx
}

// payTo spends output number index of an unknown transaction.
func payTo(index uint32, outs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{9}, index), nil, nil))
	for _, out := range outs {
		tx.AddTxOut(out)
	}
	return tx
}

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// numberedScript returns a script of one of the kinds that wallets use, the same for each number.
func numberedScript(i uint64) []byte {
	var program [32]byte
	binary.LittleEndian.PutUint64(program[:], i*0x9e3779b97f4a7c15)
	switch i % 10 {
	case 0, 1:
		return append(append([]byte{0x76, 0xa9, 20}, program[:20]...), 0x88, 0xac)
	case 2:
		return append(append([]byte{0xa9, 20}, program[:20]...), 0x87)
	case 3, 4, 5:
		return append([]byte{0x51, 32}, program[:]...)
	}
	return append([]byte{0, 20}, program[:20]...)
}

// randomTx returns a random transaction that nodes accept, in many unusual forms.
func randomTx(r *rand.Rand) *wire.MsgTx {
	tx := wire.NewMsgTx(int32(r.Uint32()))
	tx.LockTime = r.Uint32()
	witnesses := r.IntN(2) == 0
	for i := range fewOrMany(r, 4, 300) {
		in := wire.NewTxIn(wire.NewOutPoint((*chainhash.Hash)(randomBytes(r, 32)), r.Uint32()),
			randomBytes(r, fewOrMany(r, 120, 70_000)), nil)
		in.Sequence = r.Uint32()
		for range r.IntN(4) {
			in.Witness = append(in.Witness, randomBytes(r, fewOrMany(r, 80, 600)))
		}
		if !witnesses {
			in.Witness = nil
		} else if i == 0 {
			in.Witness = append(in.Witness, nil)
		}
		tx.AddTxIn(in)
	}
	for range fewOrMany(r, 4, 300) {
		script := numberedScript(r.Uint64N(1000))
		if r.IntN(4) == 0 {
			script = randomBytes(r, r.IntN(60))
		}
		tx.AddTxOut(wire.NewTxOut(r.Int64N(1e10), script))
	}
	return tx
}

// fewOrMany returns 1 to few, and sometimes up to many.
func fewOrMany(r *rand.Rand, few, many int) int {
	if r.IntN(50) == 0 {
		return 1 + r.IntN(many)
	}
	return 1 + r.IntN(few)
}
