package bitcoin

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

const (
	benchScripts = 1_000_000
	benchBlocks  = 2_000
	benchShapes  = 20  // different blocks, read repeatedly
	benchRound   = 100 // blocks in a row for each way
	benchSize    = 1_500_000
)

// fullBlock returns a block like the network's: most transactions with witnesses, one to three
// inputs, two outputs, and sometimes a payout to many. About one transaction of a thousand pays a
// watched script.
func fullBlock(r *rand.Rand) []byte {
	var txs []*wire.MsgTx
	for size := 0; size < benchSize; {
		tx := wire.NewMsgTx(2)
		for range 1 + r.IntN(3) {
			in := wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash(randomBytes(r, 32)), Index: r.Uint32N(4)}, nil, nil)
			if r.IntN(5) == 0 {
				in.SignatureScript = randomBytes(r, 107)
			} else {
				in.Witness = wire.TxWitness{randomBytes(r, 72), randomBytes(r, 33)}
			}
			tx.AddTxIn(in)
		}
		outputs := 2
		if r.IntN(100) == 0 {
			outputs = 50
		}
		for range outputs {
			tx.AddTxOut(wire.NewTxOut(r.Int64N(1e9), numberedScript(benchScripts+r.Uint64N(1<<40))))
		}
		if r.IntN(1000) == 0 {
			tx.TxOut[0].PkScript = numberedScript(r.Uint64N(benchScripts))
		}
		size += tx.SerializeSize()
		txs = append(txs, tx)
	}
	return wireBytes(blockOf(txs...))
}

// benchRun holds the time and the results of one way of reading the chain.
type benchRun struct {
	took           time.Duration
	found          int
	mallocs, bytes uint64
	kept           int64 // bytes that stay allocated
}

// BenchmarkCatchUp reads 2,000 full blocks on one core while watching a million scripts, in turn
// with the wire package and a map of the scripts, once trusting the headers and once verifying the
// transactions against them.
func BenchmarkCatchUp(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := paramsOf(b, money.Bitcoin, "regtest")
	before := liveHeap()
	watch := &chain.WatchSet{Codec: Codec(p)}
	for at := uint64(0); at < benchScripts; at += 1000 {
		some := make([]string, 1000)
		for i := range some {
			some[i] = p.Address(numberedScript(at + uint64(i)))
		}
		watch.AddAddresses(some...)
	}
	for i := range 10_000 { // transfers that are not final yet
		watch.AddSpends(fmt.Sprintf("%064x:%d", i, i%3))
	}
	watchSize := liveHeap() - before
	scripts := make(map[string]struct{}, benchScripts)
	for i := range uint64(benchScripts) {
		scripts[string(numberedScript(i))] = struct{}{}
	}
	r := rand.New(rand.NewPCG(4, 4))
	var shapes [benchShapes][]byte
	for i := range shapes {
		shapes[i] = fullBlock(r)
	}
	for b.Loop() {
		var ours, wires [2]benchRun
		for range benchBlocks / benchRound {
			for side, verify := range []bool{false, true} {
				ours[side].readRound(shapes, func(raw []byte) int { return readOurs(b, raw, p, watch, verify) })
				wires[side].readRound(shapes, func(raw []byte) int { return readWire(b, raw, scripts, verify) })
			}
		}
		if ours[0].found == 0 || ours[0].found != wires[0].found || ours[1].found != wires[1].found {
			b.Fatalf("%d and %d transfers found, wire finds %d", ours[0].found, ours[1].found, wires[0].found)
		}
		trusting, verifying := wires[0].timesSlower(ours[0]), wires[1].timesSlower(ours[1])
		b.ReportMetric(trusting, "x-wire-trusting")
		b.ReportMetric(verifying, "x-wire-verifying")
		b.ReportMetric(float64(ours[0].took.Microseconds())/benchBlocks, "µs/block-trusting")
		b.ReportMetric(float64(ours[1].took.Microseconds())/benchBlocks, "µs/block-verifying")
		b.ReportMetric(float64(ours[1].mallocs)/benchBlocks, "mallocs/block")
		b.ReportMetric(float64(ours[1].bytes)/benchBlocks/1e3, "kB/block")
		b.ReportMetric(float64(wires[1].bytes)/benchBlocks/1e3, "kB/block-wire")
		b.ReportMetric(float64(ours[0].kept+ours[1].kept)/1e6, "MB-kept")
		b.ReportMetric(float64(watchSize)/1e6, "MB-watch-set")
		if trusting < 3 || verifying < 1 || watchSize > 150e6 {
			b.Errorf("%.1f and %.1f times the speed of wire, %d bytes for the watch set: the limits are 3, 1 and "+
				"150 MB", trusting, verifying, watchSize)
		}
	}
	runtime.KeepAlive(scripts)
}

// readRound reads benchRound blocks, after a garbage collection.
func (run *benchRun) readRound(shapes [benchShapes][]byte, read func([]byte) int) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	for i := range benchRound {
		run.found += read(shapes[i%benchShapes])
	}
	run.took += time.Since(start)
	runtime.ReadMemStats(&after)
	run.mallocs += after.Mallocs - before.Mallocs
	run.bytes += after.TotalAlloc - before.TotalAlloc
	run.kept += int64(liveHeap() - before.HeapAlloc)
}

// timesSlower returns how many times as long as another run this one took.
func (run *benchRun) timesSlower(other benchRun) float64 {
	return float64(run.took) / float64(other.took)
}

func liveHeap() uint64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

func readOurs(b *testing.B, raw []byte, p params.Params, watch chain.Watch, verify bool) int {
	block, err := parseBlock(raw, p, 1, watch, verify)
	if err != nil {
		b.Fatal(err)
	}
	return len(block.Transfers)
}

func readWire(b *testing.B, raw []byte, scripts map[string]struct{}, verify bool) (found int) {
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		b.Fatal(err)
	}
	if verify && wireRoot(&block) != block.Header.MerkleRoot {
		b.Fatal("wrong root")
	}
	for _, tx := range block.Transactions {
		for _, out := range tx.TxOut {
			if _, ok := scripts[string(out.PkScript)]; ok {
				found++
			}
		}
	}
	return found
}
