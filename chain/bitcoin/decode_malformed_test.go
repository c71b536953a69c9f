package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/core/money"
)

// withRoot sets the merkle root over the block's current transactions.
func withRoot(block *wire.MsgBlock) *wire.MsgBlock {
	block.Header.MerkleRoot = wireRoot(block)
	return block
}

// editPayment returns a small block in which the bytes of its one payment are changed and the root
// is correct: only the payment is wrong.
func editPayment(change func(tx []byte) []byte) []byte {
	block := blockOf()
	tx := change(wireBytes(payTo(0, wire.NewTxOut(5, numberedScript(6)), wire.NewTxOut(6, numberedScript(7)))))
	raw := wireBytes(block)
	raw[headerLen] = 2 // number of transactions
	coinbase, id := block.Transactions[0].TxHash(), chainhash.DoubleHashH(tx)
	root, _ := textbookRoot([]chainhash.Hash{coinbase, id})
	copy(raw[36:], root[:])
	return append(raw, tx...)
}

// Offsets in the payment that editPayment changes.
const (
	inputsAt  = 4
	scriptAt  = inputsAt + 1 + 36
	outputsAt = scriptAt + 1 + 4
	valueAt   = outputsAt + 1
)

var badBlocks = map[string]struct {
	raw  []byte
	want string
}{
	"nothing":         {nil, "0 bytes"},
	"half a header":   {make([]byte, 40), "40 bytes"},
	"a header alone":  {wireBytes(blockOf())[:headerLen], "ends too early"},
	"far too long":    {make([]byte, maxRaw+1), "bytes"},
	"no transactions": {append(wireBytes(blockOf())[:headerLen:headerLen], 0), "no transactions"},
	"trailing byte":   {append(wireBytes(blockOf(payTo(0, wire.NewTxOut(1, nil)))), 0), "1 bytes follow"},
	"other root": {func() []byte {
		block := blockOf(payTo(0, wire.NewTxOut(1, numberedScript(1))))
		block.Transactions[1].TxOut[0].Value++
		return wireBytes(block)
	}(), "other transactions"},
	"last transaction twice": {func() []byte {
		block := blockOf(payTo(0, wire.NewTxOut(1, nil)), payTo(1, wire.NewTxOut(1, nil)))
		root := block.Header.MerkleRoot
		block.Transactions = append(block.Transactions, block.Transactions[2])
		if withRoot(block).Header.MerkleRoot != root {
			panic("the mutation is none")
		}
		return wireBytes(block)
	}(), "holds a part twice"},
	"a payment twice": {func() []byte {
		tx := payTo(0, wire.NewTxOut(1, numberedScript(6)))
		return wireBytes(blockOf(payTo(1, wire.NewTxOut(1, nil)), tx, payTo(2, wire.NewTxOut(1, numberedScript(7))), tx))
	}(), "in the block twice"},
	"no coinbase": {func() []byte {
		block := blockOf(payTo(0, wire.NewTxOut(1, nil)))
		block.Transactions = block.Transactions[1:]
		return wireBytes(withRoot(block))
	}(), "makes new coins"},
	"two coinbases": {wireBytes(blockOf(coinbaseTx(7))), "makes new coins"},
	"nodes of the tree for transactions": {func() []byte { // the id of one transaction begins like another transaction
		block := blockOf(payTo(0, wire.NewTxOut(1, nil)))
		first, second := block.Transactions[0].TxHash(), block.Transactions[1].TxHash()
		return slices.Concat(wireBytes(block)[:headerLen], []byte{1}, first[:], second[:])
	}(), "transaction 0"},
	"a count beyond the bytes": {append(wireBytes(blockOf())[:headerLen:headerLen], 0xfe, 0xff, 0xff, 0xff, 0x7f),
		"more parts than it has bytes"},
	"a long count": {append(wireBytes(blockOf())[:headerLen:headerLen], 0xfd, 1, 0), "shortest form"},
	"inputs beyond the bytes": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:inputsAt], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
			tx[inputsAt+1:])
	}), "more parts than it has bytes"},
	"no inputs": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:inputsAt], []byte{0}, tx[outputsAt:])
	}), "no inputs"},
	"no inputs behind the marker": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:inputsAt], []byte{0, 1, 0}, tx[outputsAt:], make([]byte, 4))
	}), "no inputs"},
	"an unknown flag": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:inputsAt], []byte{0, 8}, tx[inputsAt:len(tx)-4], []byte{0}, tx[len(tx)-4:])
	}), "flag"},
	"witnesses announced, none there": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:inputsAt], []byte{0, 1}, tx[inputsAt:len(tx)-4], []byte{0}, tx[len(tx)-4:])
	}), "announces witnesses"},
	"a script beyond the bytes": {editPayment(func(tx []byte) []byte { tx[scriptAt] = 0xfc; return tx }),
		"ends too early"},
	"no outputs": {editPayment(func(tx []byte) []byte {
		return slices.Concat(tx[:outputsAt], []byte{0}, tx[len(tx)-4:], make([]byte, 20))
	}), "no outputs"},
	"a negative amount": {editPayment(func(tx []byte) []byte { tx[valueAt+7] = 0x80; return tx }),
		"more coins than there can be"},
	"a coin too many": {editPayment(func(tx []byte) []byte {
		binary.LittleEndian.PutUint64(tx[valueAt:], 21e14+1)
		return tx
	}), "more coins than there can be"},
	"too many coins together": {editPayment(func(tx []byte) []byte {
		binary.LittleEndian.PutUint64(tx[valueAt:], 21e14-5) // and 6 in the other output
		return tx
	}), "more coins than there can be"},
	"an input of nothing beside another": {editPayment(func(tx []byte) []byte {
		nothing := append(append(make([]byte, 32), 0xff, 0xff, 0xff, 0xff), make([]byte, 5)...)
		return slices.Concat(tx[:inputsAt], []byte{2}, nothing, tx[inputsAt+1:])
	}), "spends nothing"},
}

// TestMalformedBlocksAreRefused (BTC-9): a block that is damaged in any way is refused.
func TestMalformedBlocksAreRefused(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	for name, c := range badBlocks {
		block, err := ParseBlock(c.raw, p, 1, watchEverything{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want one with %q", name, err, c.want)
		}
		if block.Hash != "" || block.Transfers != nil {
			t.Errorf("%s: beside the error, there is %+v", name, block)
		}
	}
	if _, err := ParseBlock(editPayment(func(tx []byte) []byte { return tx }), p, 1, watchEverything{}); err != nil {
		t.Error("the block that is edited is bad before:", err)
	}
}

// TestTruncatedBlocksAreRefused: a block is cut at every byte, and every byte is changed.
func TestTruncatedBlocksAreRefused(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Dogecoin, "regtest")
	raw := readVector(t, "litecoin-regtest-104")
	for end := range raw {
		if _, err := ParseBlock(raw[:end], p, 1, watchEverything{}); err == nil {
			t.Errorf("%d of %d bytes are a block", end, len(raw))
		}
	}
	whole, err := ParseBlock(raw, p, 1, watchEverything{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		broken := bytes.Clone(raw)
		broken[i] ^= 0x10
		// With another header it is another block. The root doesn't cover the witnesses, nor the
		// bytes between the parts of the transactions.
		got, err := ParseBlock(broken, p, 1, watchEverything{})
		if err == nil && got.Hash == whole.Hash && len(got.Transfers) != len(whole.Transfers) {
			t.Errorf("with byte %d broken it pays others: %+v", i, got)
		}
	}
}

// TestTransactionOf64BytesIsRead (BTC-11): consensus allows a transaction of 64 bytes.
func TestTransactionOf64BytesIsRead(t *testing.T) {
	t.Parallel()
	small := payTo(0, wire.NewTxOut(1, []byte{0x51}))
	small.TxIn[0].SignatureScript = []byte{0x51, 0x51, 0x51}
	if len(wireBytes(small)) != 64 {
		t.Fatalf("the transaction has %d bytes, want 64", len(wireBytes(small)))
	}
	if _, err := ParseBlock(wireBytes(blockOf(small, payTo(1, wire.NewTxOut(1, nil)))),
		paramsOf(t, money.Bitcoin, "regtest"), 1, emptyWatch{}); err != nil {
		t.Error(err)
	}
}

func TestMissingWorkIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain   money.Chain
		name    string
		change  func(raw []byte)
		want    string
		headers bool // ParseHeader refuses it, too
	}{
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { raw[76]++ }, "work was not done", true},
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { raw[75] = 0x1e }, "none of the network's", true},
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { raw[75] = 0xff }, "none of the network's", true},
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { raw[75] = 0x01 }, "none of the network's", true},
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { raw[74] |= 0x80 }, "none of the network's", true},
		{money.Bitcoin, "bitcoin-170", func(raw []byte) { copy(raw[72:75], "\x00\x00\x00") }, "none of the network's",
			true},
		{money.Dogecoin, "dogecoin-0", func(raw []byte) { raw[76]++ }, "work was not done", false},
		{money.Dogecoin, "dogecoin-0", func(raw []byte) { raw[75] = 0x1f }, "none of the network's", false},
	} {
		p := paramsOf(t, c.chain, "mainnet")
		raw := readVector(t, c.name)
		c.change(raw)
		if _, err := ParseBlock(raw, p, 1, emptyWatch{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one with %q", c.name, err, c.want)
		}
		if _, _, _, _, err := ParseHeader(raw, p); c.headers != (err != nil) || err != nil &&
			!errors.Is(err, ErrMalformed) {
			t.Errorf("%s: header %v", c.name, err)
		}
	}
	if _, _, _, _, err := ParseHeader(make([]byte, 79), paramsOf(t, money.Bitcoin, "regtest")); !errors.Is(err,
		ErrMalformed) {
		t.Errorf("79 bytes: %v", err)
	}
}

// TestOnlyConfirmedMatchesAreCredited: the decoder looks where Raw is true, and credits only what
// Address and Spend confirm.
func TestOnlyConfirmedMatchesAreCredited(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	raw := wireBytes(blockOf(payTo(0, wire.NewTxOut(5, numberedScript(6)))))
	for name, watch := range map[string]chain.Watch{"raw forms only": rawOnly{}, "none": emptyWatch{},
		"the zero set": new(chain.WatchSet)} {
		if block, err := ParseBlock(raw, p, 1, watch); err != nil || block.Transfers != nil || block.Spends != nil {
			t.Errorf("%s: %v %+v", name, err, block)
		}
	}
}

// rawOnly is a Watch whose Raw is always true, and that watches nothing.
type rawOnly struct{ emptyWatch }

func (rawOnly) Raw([]byte) bool { return true }
