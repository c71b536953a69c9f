package bitcoin

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// watchEverything is a Watch that watches everything.
type watchEverything struct{}

func (watchEverything) Address(string) bool { return true }
func (watchEverything) Spend(string) bool   { return true }
func (watchEverything) Raw([]byte) bool     { return true }

// TestPublicBlocksAreRead: blocks from public explorers are read, and their work is verified.
func TestPublicBlocksAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain        money.Chain
		network      string
		raw          []byte
		hash, parent string
		at           int64
	}{
		{money.Bitcoin, "mainnet", wireBytes(chaincfg.MainNetParams.GenesisBlock),
			"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f", "", 1231006505},
		{money.Bitcoin, "testnet4", wireBytes(chaincfg.TestNet4Params.GenesisBlock),
			chaincfg.TestNet4Params.GenesisHash.String(), "", 1714777860},
		{money.Bitcoin, "signet", wireBytes(chaincfg.SigNetParams.GenesisBlock),
			chaincfg.SigNetParams.GenesisHash.String(), "", 1598918400},
		{money.Bitcoin, "mainnet", readVector(t, "bitcoin-170"),
			"00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee",
			"000000002a22cfee1f2c846adbd12b3e183d4f97683f85dad08a79780a84bd55", 1231731025},
		{money.Dogecoin, "mainnet", readVector(t, "dogecoin-0"),
			"1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691", "", 1386325540},
	} {
		p := paramsOf(t, c.chain, c.network)
		block, err := ParseBlock(c.raw, p, 3, watchEverything{})
		if err != nil || block.Height != 3 || block.Hash != c.hash || block.Parent != c.parent ||
			!block.Time.Equal(time.Unix(c.at, 0)) {
			t.Errorf("%s: %v %+v", c.hash, err, block)
		}
		hash, parent, at, merkle, err := ParseHeader(c.raw, p)
		if err != nil || hash != c.hash || parent != c.parent || !at.Equal(block.Time) ||
			!bytes.Equal(merkle[:], c.raw[36:68]) {
			t.Errorf("%s: header %v %s %s %s %x", c.hash, err, hash, parent, at, merkle)
		}
	}
	block, _ := ParseBlock(readVector(t, "bitcoin-170"), paramsOf(t, money.Bitcoin, "mainnet"), 170, watchEverything{})
	want := []chain.Spend{{Key: "0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9:0",
		TxID: "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"}}
	if !reflect.DeepEqual(block.Spends, want) || len(block.Transfers) != 0 {
		t.Errorf("block 170: %+v; its outputs pay bare keys, which have no address", block)
	}
}

// TestLitecoinBlockIsReadAsItsNodeShowsIt: litecoind on regtest replaces Dogecoin Core in tests.
func TestLitecoinBlockIsReadAsItsNodeShowsIt(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Dogecoin, "regtest")
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses("mrHhAzwoonYUsNFYPij49RnTCidjgdL7N6")
	const parent = "fe8cead2244db2f5d5e0952402e97f276ff4019cf2440bb15e26de75ed1464e0"
	watch.AddSpends(parent+":1", parent+":0")
	block, err := ParseBlock(readVector(t, "litecoin-regtest-104"), p, 104, watch)
	if err != nil {
		t.Fatal(err)
	}
	// As litecoind's getblock shows it.
	want := []chain.Transfer{
		{TxID: "0297862aa68657db1b9661740f1d899ddd177b7731638b6b89a589bcac5c8568", Amount: money.Units(50_00003190),
			Maturity: 240},
		{TxID: "cbd02239f731a2bbe49bdc7031784b76d4a44616d2973ae559ddd8f1b056b434", Amount: money.Units(3_90000000),
			Spends: []string{parent + ":2"}},
		{TxID: "e5dcf8e3e06050a608a6beb0ad42132f58961bf7de5b0579448dbc9264734ba6", Index: 2,
			Amount: money.Units(25000000), Spends: []string{parent + ":1"}},
	}
	for i := range want {
		want[i].Asset, want[i].Address = "DOGE", "mrHhAzwoonYUsNFYPij49RnTCidjgdL7N6"
	}
	if !reflect.DeepEqual(block.Transfers, want) {
		t.Errorf("got  %+v\nwant %+v", block.Transfers, want)
	}
	if want := []chain.Spend{{Key: parent + ":1", TxID: want[2].TxID}}; !reflect.DeepEqual(block.Spends, want) {
		t.Errorf("got %+v, want %+v", block.Spends, want)
	}
	if block.Hash != "ee9bb28f9559c936a2a2f306ceac4ce31bab834ba529ce2534ea3ac62e4859a1" ||
		block.Time.Unix() != 1795251966 ||
		block.Parent != "5609eb1cb370aa26d8c618d6007487df33e6d0dc41957038b4f7445d506f8cba" {
		t.Errorf("header %+v", block.Header)
	}
}

// TestParseTxReadsTheExampleOfBIP143: one input has a witness, the other one none.
func TestParseTxReadsTheExampleOfBIP143(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "mainnet")
	raw := readVector(t, "bip143-p2wpkh")
	var reference wire.MsgTx
	if err := reference.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	inputs := []string{
		"9f96ade4b41d5433f4eda31e1738ec2b36f6e7d1420d94a6af99801a88f7f7ff:0",
		"8ac60eb9575db5b2d987e29f301b5b819ea83a5c6579d282d189cc04b8e151ef:1",
	}
	second := p.Address(reference.TxOut[1].PkScript)
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses(second)
	watch.AddSpends(inputs[1])
	tx, err := ParseTx(raw, p, watch)
	want := Tx{
		ID: reference.TxHash().String(), Inputs: inputs,
		Transfers: []chain.Transfer{{TxID: reference.TxHash().String(), Index: 1, Asset: "BTC",
			Destination: chain.Destination{Address: second},
			Amount:      money.Units(2_23450000), Spends: inputs}},
		Spends: []chain.Spend{{Key: inputs[1], TxID: reference.TxHash().String()}},
	}
	if err != nil || !reflect.DeepEqual(tx, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, tx, want)
	}
	if tx, err := ParseTx(raw, p, emptyWatch{}); err != nil || tx.ID != want.ID || len(tx.Inputs) != 2 ||
		tx.Transfers != nil || tx.Spends != nil {
		t.Errorf("unwatched: %v %+v", err, tx)
	}
	for end := range raw {
		if _, err := ParseTx(raw[:end], p, watch); err == nil {
			t.Errorf("%d of %d bytes are a transaction", end, len(raw))
		}
	}
	if _, err := ParseTx(append(raw, 0), p, watch); err == nil {
		t.Error("a byte may follow a transaction")
	}
	if _, err := ParseTx(wireBytes(coinbaseTx(1)), p, watch); err == nil {
		t.Error("a coinbase passes for an unconfirmed transaction")
	}
}

// TestOneTransactionMayPaySeveralTimes (BTC-13): a transaction with more inputs than are kept pays
// one address twice, and another one.
func TestOneTransactionMayPaySeveralTimes(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	tx := payTo(0, wire.NewTxOut(1, numberedScript(1)), wire.NewTxOut(0, []byte{0x6a}),
		wire.NewTxOut(1, numberedScript(1)), wire.NewTxOut(3, numberedScript(2)))
	for i := range uint32(99) {
		tx.AddTxIn(payTo(1 + i).TxIn[0])
	}
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses(p.Address(numberedScript(1)), p.Address(numberedScript(2)))
	block, err := ParseBlock(wireBytes(blockOf(tx)), p, 1, watch)
	if err != nil || len(block.Transfers) != 3 {
		t.Fatalf("%v %+v", err, block)
	}
	for i, want := range []struct{ index, amount int64 }{{0, 1}, {2, 1}, {3, 3}} {
		got := block.Transfers[i]
		if got.Index != int(want.index) || got.Amount.Cmp(money.Units(want.amount)) != 0 ||
			len(got.Spends) != chain.MaxSpends || got.Maturity != 0 {
			t.Errorf("%+v", got)
		}
		if last := got.Spends[chain.MaxSpends-1]; !strings.HasSuffix(last, ":63") {
			t.Errorf("the last of the spend keys is %s", last)
		}
	}
}

// TestBlockOf100000PaymentsIsRead (BTC-12): one block has 100,000 outputs to us.
func TestBlockOf100000PaymentsIsRead(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	watch := &chain.WatchSet{Codec: Codec(p)}
	var txs []*wire.MsgTx
	for i := range uint32(100) {
		tx := payTo(i)
		for j := range uint64(1000) {
			tx.AddTxOut(wire.NewTxOut(1, numberedScript(j*10+6)))
		}
		txs = append(txs, tx)
	}
	for j := range uint64(1000) {
		watch.AddAddresses(p.Address(numberedScript(j*10 + 6)))
	}
	block, err := ParseBlock(wireBytes(blockOf(txs...)), p, 1, watch)
	if err != nil || len(block.Transfers) != 100_000 {
		t.Fatalf("%v, %d transfers", err, len(block.Transfers))
	}
	sum := money.Amount{}
	for _, transfer := range block.Transfers {
		sum = sum.Add(transfer.Amount)
	}
	if sum.Cmp(money.Units(100_000)) != 0 {
		t.Errorf("they sum up to %s", sum)
	}
}

// TestAllocationsDoNotGrowWithTheBlock: the allocations for a block don't grow with its number of
// transactions.
func TestAllocationsDoNotGrowWithTheBlock(t *testing.T) {
	p := paramsOf(t, money.Bitcoin, "regtest")
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses(p.Address(numberedScript(1)))
	for _, n := range []uint32{1, 2000} {
		var txs []*wire.MsgTx
		for i := range n {
			tx := payTo(i, wire.NewTxOut(1, numberedScript(2)), wire.NewTxOut(2, numberedScript(3)))
			tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 72)}
			txs = append(txs, tx)
		}
		raw := wireBytes(blockOf(txs...))
		allocations := testing.AllocsPerRun(20, func() {
			if _, err := ParseBlock(raw, p, 1, watch); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 8 {
			t.Errorf("%d transactions take %.0f allocations", n, allocations)
		}
	}
}

// ExampleCodec shows the raw form of an address.
func ExampleCodec() {
	p, _ := params.Lookup(money.Bitcoin, "mainnet")
	fmt.Printf("%x\n", Codec(p).Address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"))
	// Output: 0014751e76e8199196d454941c45d1b3a323f1433bd6
}
