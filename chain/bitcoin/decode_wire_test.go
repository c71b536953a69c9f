package bitcoin

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// watchHalf watches about half of all texts, and its Raw is always true.
type watchHalf struct{}

func (watchHalf) Address(address string) bool { return address[len(address)-1]%2 == 0 }
func (watchHalf) Spend(key string) bool       { return key[3]%2 == 0 }
func (watchHalf) Raw([]byte) bool             { return true }

// wireBlock parses a block with the wire package and the rules of consensus that the bytes of a
// block alone can break. It returns nil for a block that must be refused.
func wireBlock(raw []byte, p params.Params, height int64, watch chain.Watch) *chain.Block {
	var block wire.MsgBlock
	reader := bytes.NewReader(raw)
	if block.Deserialize(reader) != nil || reader.Len() > 0 || len(block.Transactions) == 0 {
		return nil
	}
	ids := make([]chainhash.Hash, len(block.Transactions))
	out := &chain.Block{Header: chain.Header{
		BlockID: chain.BlockID{Height: height, Hash: block.BlockHash().String()},
		Parent:  block.Header.PrevBlock.String(), Time: block.Header.Timestamp.UTC()}}
	if block.Header.PrevBlock == (chainhash.Hash{}) {
		out.Parent = ""
	}
	paid := map[chainhash.Hash]bool{}
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
		coinbase, ok := checkConsensus(tx, p)
		if !ok || coinbase != (i == 0) {
			return nil
		}
		transfers, spends := wireTx(tx, p, watch)
		if len(transfers) > 0 && paid[ids[i]] {
			return nil
		}
		paid[ids[i]] = len(transfers) > 0
		out.Transfers, out.Spends = append(out.Transfers, transfers...), append(out.Spends, spends...)
	}
	if root, repeated := textbookRoot(ids); repeated || root != block.Header.MerkleRoot {
		return nil
	}
	return out
}

// checkConsensus reports whether a transaction by itself can be in a block, and whether it is a
// coinbase.
func checkConsensus(tx *wire.MsgTx, p params.Params) (coinbase, ok bool) {
	if len(tx.TxIn) == 0 || len(tx.TxOut) == 0 {
		return false, false
	}
	for _, in := range tx.TxIn {
		coinbase = coinbase || in.PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
	}
	left := int64(uint64(p.MaxAmount()))
	for _, out := range tx.TxOut {
		if left -= out.Value; out.Value < 0 || out.Value > int64(uint64(p.MaxAmount())) || left < 0 {
			return false, false
		}
	}
	return coinbase, !coinbase || len(tx.TxIn) == 1
}

// wireTx returns the watched transfers and spends of a valid transaction.
func wireTx(tx *wire.MsgTx, p params.Params, watch chain.Watch) (transfers []chain.Transfer, spends []chain.Spend) {
	coinbase, _ := checkConsensus(tx, p)
	id := tx.TxHash().String()
	var keys []string
	for _, in := range tx.TxIn {
		if coinbase {
			break
		}
		key := in.PreviousOutPoint.String()
		if len(keys) < chain.MaxSpends {
			keys = append(keys, key)
		}
		if watch.Spend(key) {
			spends = append(spends, chain.Spend{Key: key, TxID: id})
		}
	}
	for i, out := range tx.TxOut {
		address := p.Address(out.PkScript)
		if address == "" || !watch.Address(address) {
			continue
		}
		t := chain.Transfer{TxID: id, Index: i, Asset: string(p.Coin),
			Destination: chain.Destination{Address: address}, Amount: money.Units(out.Value), Spends: keys}
		if coinbase {
			t.Maturity = p.Maturity
		}
		transfers = append(transfers, t)
	}
	return transfers, spends
}

// compareWithWire compares the results of ParseBlock and of the wire package for some bytes, and
// returns the difference.
func compareWithWire(raw []byte, p params.Params, watch chain.Watch) string {
	want := wireBlock(raw, p, 5, watch)
	got, err := ParseBlock(raw, p, 5, watch)
	switch {
	case err != nil && want == nil:
		return ""
	case err != nil:
		return fmt.Sprintf("a good block is refused: %v", err)
	case want == nil:
		return "a bad block is taken"
	case !reflect.DeepEqual(got, *want):
		return fmt.Sprintf("got  %+v\nwant %+v", got, *want)
	}
	return ""
}

// TestRandomBlocksAreReadAsByWire: random blocks with some 13,000 transactions are read like the
// wire package reads them.
func TestRandomBlocksAreReadAsByWire(t *testing.T) {
	t.Parallel()
	bitcoin, doge := paramsOf(t, money.Bitcoin, "regtest"), paramsOf(t, money.Dogecoin, "regtest")
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := rapid.SampledFrom([]params.Params{bitcoin, doge}).Draw(t, "network")
		txs := make([]*wire.MsgTx, rapid.IntRange(100, 160).Draw(t, "transactions"))
		watch := &chain.WatchSet{Codec: Codec(p)}
		for i := range txs {
			txs[i] = randomTx(r)
			if r.IntN(3) == 0 {
				watch.AddSpends(txs[i].TxIn[0].PreviousOutPoint.String())
			}
		}
		for i := range uint64(100) {
			if address := p.Address(numberedScript(i)); address != "" {
				watch.AddAddresses(address)
			}
		}
		txs[0].TxOut = append(txs[0].TxOut,
			wire.NewTxOut(2, numberedScript(0))) // so that every drawn block has a payment
		block := blockOf(txs...)
		block.Transactions[0].TxOut = append(block.Transactions[0].TxOut, wire.NewTxOut(1, numberedScript(0)))
		block.Header.MerkleRoot = wireRoot(block)
		raw := wireBytes(block)
		for _, watch := range []chain.Watch{watch, watchHalf{}, emptyWatch{}} {
			if difference := compareWithWire(raw, p, watch); difference != "" {
				t.Fatalf("ParseBlock differs from wire: %s", difference)
			}
		}
		if found, _ := ParseBlock(raw, p, 5, watch); len(found.Transfers) < 2 || len(found.Spends) == 0 ||
			found.Transfers[0].Maturity != p.Maturity {
			t.Fatalf("%d transfers and %d spends", len(found.Transfers), len(found.Spends))
		}
		trusting, err := parseBlock(raw, p, 5, watch, false)
		if verified, _ := ParseBlock(raw, p, 5, watch); err != nil || !reflect.DeepEqual(trusting, verified) {
			t.Fatal("without verification it reads something else", err)
		}
	})
}

// withOwnRoot sets the root over the block's own transactions, if it can be read.
func withOwnRoot(raw []byte) []byte {
	var block wire.MsgBlock
	if block.Deserialize(bytes.NewReader(raw)) != nil || len(block.Transactions) == 0 {
		return raw
	}
	root := wireRoot(&block)
	raw = bytes.Clone(raw)
	copy(raw[36:68], root[:])
	return raw
}

// witnessTx returns a transaction in which each input has a short witness.
func witnessTx(inputs uint32) *wire.MsgTx {
	tx := payTo(0, wire.NewTxOut(5, numberedScript(3)), wire.NewTxOut(6, numberedScript(7)))
	for i := range inputs {
		in := payTo(i + 1).TxIn[0]
		in.Witness = wire.TxWitness{{1}, {byte(i), 2}}
		tx.AddTxIn(in)
	}
	return tx
}

// FuzzParseBlock: ParseBlock takes the blocks that btcsuite and the rules take, and reads the same in them.
//
//fuzz:inputs 15000
func FuzzParseBlock(f *testing.F) {
	f.Add(readVector(f, "bitcoin-170"))
	f.Add(readVector(f, "litecoin-regtest-104"))
	f.Add(wireBytes(blockOf(payTo(0, wire.NewTxOut(5, numberedScript(1))),
		payTo(1, wire.NewTxOut(6, numberedScript(3))))))
	f.Add(wireBytes(blockOf(witnessTx(3), witnessTx(1), payTo(2, wire.NewTxOut(6, numberedScript(5))))))
	f.Add(auxBlock(nil))
	bitcoin, doge, main := paramsOf(f, money.Bitcoin, "regtest"), paramsOf(f, money.Dogecoin, "regtest"),
		paramsOf(f, money.Bitcoin, "mainnet")
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, raw := range [][]byte{raw, withOwnRoot(raw)} {
			if difference := compareWithWire(raw, bitcoin, watchHalf{}); difference != "" {
				t.Fatalf("ParseBlock differs from wire: %s", difference)
			}
			if _, err := ParseBlock(raw, main, 5, watchHalf{}); err == nil &&
				wireBlock(raw, main, 5, watchHalf{}) == nil {
				t.Fatal("a bad block is taken")
			}
			got, err := ParseBlock(raw, doge, 5, watchHalf{})
			if plain := withoutAuxPow(raw); err == nil &&
				(plain == nil || !reflect.DeepEqual(&got, wireBlock(plain, doge, 5, watchHalf{}))) {
				t.Fatal("a bad block with another chain's proof of work is taken, or misread")
			}
		}
	})
}

// FuzzParseTx: ParseTx takes the transactions that btcsuite and the rules take, and reads the same in them.
//
//fuzz:inputs 20000
func FuzzParseTx(f *testing.F) {
	f.Add(readVector(f, "bip143-p2wpkh"))
	f.Add(wireBytes(payTo(0, wire.NewTxOut(5, numberedScript(1)))))
	f.Add(wireBytes(witnessTx(70)))
	f.Add(wireBytes(coinbaseTx(1)))
	p := paramsOf(f, money.Bitcoin, "regtest")
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := ParseTx(raw, p, watchHalf{})
		var tx wire.MsgTx
		reader := bytes.NewReader(raw)
		bad := tx.Deserialize(reader) != nil || reader.Len() > 0
		if !bad {
			coinbase, ok := checkConsensus(&tx, p)
			bad = coinbase || !ok
		}
		if bad != (err != nil) {
			t.Fatalf("%v, and wire finds it bad: %v", err, bad)
		}
		if bad {
			return
		}
		transfers, spends := wireTx(&tx, p, watchHalf{})
		if got.ID != tx.TxHash().String() || !reflect.DeepEqual(got.Transfers, transfers) ||
			!reflect.DeepEqual(got.Spends, spends) {
			t.Fatalf("%+v\nwant %+v %+v", got, transfers, spends)
		}
		if len(got.Inputs) != min(len(tx.TxIn), chain.MaxSpends) ||
			got.Inputs[0] != tx.TxIn[0].PreviousOutPoint.String() {
			t.Fatalf("inputs %v", got.Inputs)
		}
	})
}

// FuzzParseHeader: ParseHeader takes the headers that btcsuite takes, and reads the same in them.
//
//fuzz:inputs 20000
func FuzzParseHeader(f *testing.F) {
	f.Add(readVector(f, "bitcoin-170"))
	f.Add(readVector(f, "dogecoin-0")[:headerLen])
	p, main := paramsOf(f, money.Bitcoin, "regtest"), paramsOf(f, money.Bitcoin, "mainnet")
	f.Fuzz(func(t *testing.T, raw []byte) {
		hash, parent, at, merkle, err := ParseHeader(raw, p)
		var h wire.BlockHeader
		if bad := h.Deserialize(bytes.NewReader(raw)) != nil; bad != (err != nil) {
			t.Fatalf("%v, and wire finds it bad: %v", err, bad)
		}
		if err != nil {
			return
		}
		first := h.PrevBlock == chainhash.Hash{}
		if hash != h.BlockHash().String() || !at.Equal(h.Timestamp) || merkle != h.MerkleRoot ||
			first != (parent == "") || !first && parent != h.PrevBlock.String() {
			t.Fatalf("%s %s %s %x", hash, parent, at, merkle)
		}
		if _, _, _, _, err := ParseHeader(raw, main); err == nil && (hash[:8] != "00000000" || h.Bits>>24 > 0x1d) {
			t.Fatalf("%s with bits %x passes for work", hash, h.Bits)
		}
	})
}
