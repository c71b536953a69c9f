package bitcoin

import (
	"math/big"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// TestLongestBlockIsRead checks that a block and a transaction are read up to maxRaw bytes, which is
// more than the network allows, and not beyond.
func TestLongestBlockIsRead(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	of := func(bytes int, serialize func(tx *wire.MsgTx) []byte) []byte {
		tx := payTo(0, wire.NewTxOut(5, make([]byte, 1<<20)))
		missing := bytes - len(serialize(tx))
		tx.TxOut[0].PkScript = make([]byte, 1<<20+missing)
		return serialize(tx)
	}
	for more, fine := range map[int]bool{0: true, 1: false} {
		raw := of(maxRaw+more, func(tx *wire.MsgTx) []byte { return wireBytes(blockOf(tx)) })
		if _, err := ParseBlock(raw, p, 1, emptyWatch{}); len(raw) != maxRaw+more || (err == nil) != fine {
			t.Errorf("a block of %d bytes: error %v, want read: %v", len(raw), err, fine)
		}
		raw = of(maxRaw+more, func(tx *wire.MsgTx) []byte { return wireBytes(tx) })
		if _, err := ParseTx(raw, p, emptyWatch{}); len(raw) != maxRaw+more || (err == nil) != fine {
			t.Errorf("a transaction of %d bytes: error %v, want read: %v", len(raw), err, fine)
		}
	}
}

// TestAmountsEndAtAllCoins checks that a transaction moves at most all coins that there can be, in
// one output or in several.
func TestAmountsEndAtAllCoins(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	all := int64(uint64(p.MaxAmount()))
	for _, c := range []struct {
		amounts []int64
		fine    bool
	}{{[]int64{all}, true}, {[]int64{all - 1, 1}, true}, {[]int64{all + 1}, false}, {[]int64{all, 1}, false},
		{[]int64{-1}, false}, {[]int64{1 << 62, 1 << 62, 1 << 62, 1 << 62}, false}} {
		tx := payTo(0)
		for _, amount := range c.amounts {
			tx.AddTxOut(wire.NewTxOut(amount, numberedScript(1)))
		}
		if _, err := ParseTx(wireBytes(tx), p, emptyWatch{}); (err == nil) != c.fine {
			t.Errorf("outputs of %v: error %v, want accepted: %v", c.amounts, err, c.fine)
		}
	}
}

// TestWorkMayEqualTarget (BTC-9) checks that a proof of work is done up to the target itself.
func TestWorkMayEqualTarget(t *testing.T) {
	t.Parallel()
	const bits = 0x1d00ffff
	target := params.DecodeTarget(bits)
	for more, fine := range map[int64]bool{-1: true, 0: true, 1: false} {
		var done digest
		new(big.Int).Add(target, big.NewInt(more)).FillBytes(done[:])
		slices.Reverse(done[:])
		if err := params.CheckWork(done, bits, target); (err == nil) != fine {
			t.Errorf("work of the target and %d: error %v, want done: %v", more, err, fine)
		}
	}
}

// TestOnlyNullOutpointSpendsNothing checks that an outpoint is a coinbase's only if both its
// transaction and its index say so.
func TestOnlyNullOutpointSpendsNothing(t *testing.T) {
	t.Parallel()
	null := append(make([]byte, 32), 0xff, 0xff, 0xff, 0xff)
	for name, c := range map[string]struct {
		place int
		value byte
		want  bool
	}{"null": {0, 0, true}, "a transaction": {31, 1, false}, "an index": {35, 0, false}} {
		outpoint := slices.Clone(null)
		outpoint[c.place] = c.value
		if got := spendsNothing(outpoint); got != c.want {
			t.Errorf("an outpoint with %s spends nothing: %v, want %v", name, got, c.want)
		}
	}
}

// TestVersionBitMeansProofOnlyWithMergedMining checks that a block of Bitcoin may set the version
// bit that announces another chain's proof on Dogecoin.
func TestVersionBitMeansProofOnlyWithMergedMining(t *testing.T) {
	t.Parallel()
	block := blockOf(payTo(0, wire.NewTxOut(5, numberedScript(1))))
	block.Header.Version |= auxPowVersionBit
	if _, err := ParseBlock(wireBytes(block), paramsOf(t, money.Bitcoin, "regtest"), 1, emptyWatch{}); err != nil {
		t.Errorf("a block of version %x: error %v, want read", block.Header.Version, err)
	}
}

// TestVerifiedHeaderNeedsNoWork checks that the work of a block is not verified again if its header
// was verified before.
func TestVerifiedHeaderNeedsNoWork(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "mainnet")
	raw := wireBytes(blockOf(payTo(0, wire.NewTxOut(5, numberedScript(1)))))
	for verify, fine := range map[bool]bool{true: false, false: true} {
		if _, err := parseBlock(raw, p, 1, emptyWatch{}, verify); (err == nil) != fine {
			t.Errorf("a block without work, verified %v: error %v, want read: %v", verify, err, fine)
		}
	}
}

// TestTransfersShareSpendKeys checks that all transfers of a transaction hold the same spend keys
// once, because a transaction may have thousands of outputs.
func TestTransfersShareSpendKeys(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses(p.Address(numberedScript(1)))
	paying := payTo(0, wire.NewTxOut(5, numberedScript(1)), wire.NewTxOut(6, numberedScript(1)))
	tx, err := ParseTx(wireBytes(paying), p, watch)
	if err != nil || len(tx.Transfers) != 2 || &tx.Transfers[0].Spends[0] != &tx.Inputs[0] {
		t.Errorf("a transaction = %+v, error %v; want two transfers that share its inputs", tx, err)
	}
	block, err := ParseBlock(wireBytes(blockOf(paying)), p, 1, watch)
	if err != nil || len(block.Transfers) != 2 || &block.Transfers[0].Spends[0] != &block.Transfers[1].Spends[0] {
		t.Errorf("a block = %+v, error %v; want two transfers that share their spend keys", block, err)
	}
}
