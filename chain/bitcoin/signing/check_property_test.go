package signing

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/core/money"
)

// TestAnySingleChangeIsRefused (SD-7): a transaction is taken as it was approved, and refused after any one change of an amount,
// an output, an input or the fee, although the wallet's keys signed it.
func TestAnySingleChangeIsRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	rapid.Check(t, func(rt *rapid.T) {
		r := drawRequest(rt, p, kinds)
		plan, err := SelectInputs(p, r)
		if err != nil {
			return // too little
		}
		if _, err := CheckSigned(p, plan, hexOf(signTransaction(t, p, plan, leave, txscript.SigHashAll))); err != nil {
			rt.Fatalf("the approved transaction: %v", err)
		}
		outputs, inputs := len(r.Outputs), len(plan.Inputs)
		at := rapid.IntRange(0, outputs-1).Draw(rt, "at")
		limit := plan.MaxFee.MulDiv(3, 1).Sub(plan.Fee).Big().Int64()
		changes := map[string]func(tx *wire.MsgTx){
			"amount": func(tx *wire.MsgTx) {
				by := rapid.Int64Range(1, 2_000_000).Draw(rt, "by")
				if rapid.Bool().Draw(rt, "less") {
					by = -by
				}
				tx.TxOut[at].Value += by
			},
			"script": func(tx *wire.MsgTx) {
				bit := rapid.IntRange(0, 8*len(tx.TxOut[at].PkScript)-1).Draw(rt, "bit")
				tx.TxOut[at].PkScript[bit/8] ^= 1 << (bit % 8)
			},
			"output left out": func(tx *wire.MsgTx) { tx.TxOut = append(tx.TxOut[:at], tx.TxOut[at+1:]...) },
			"output more": func(tx *wire.MsgTx) {
				extra := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "extra")
				tx.AddTxOut(wire.NewTxOut(rapid.Int64Range(0, 1000).Draw(rt, "worth"), extra))
			},
			"input left out": func(tx *wire.MsgTx) {
				i := rapid.IntRange(0, inputs-1).Draw(rt, "input")
				tx.TxIn = append(tx.TxIn[:i], tx.TxIn[i+1:]...)
			},
			"outpoint": func(tx *wire.MsgTx) {
				i := rapid.IntRange(0, inputs-1).Draw(rt, "input")
				bit := rapid.IntRange(0, 255).Draw(rt, "bit")
				tx.TxIn[i].PreviousOutPoint.Hash[bit/8] ^= 1 << (bit % 8)
			},
			"input more": func(tx *wire.MsgTx) {
				out := wire.OutPoint{Index: rapid.Uint32().Draw(rt, "vout")}
				copy(out.Hash[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "hash"))
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out, Sequence: sequence})
			},
		}
		if len(plan.Outputs) > outputs {
			changes["fee"] = func(tx *wire.MsgTx) {
				tx.TxOut[outputs].Value -= limit + rapid.Int64Range(1, 1_000_000).Draw(rt, "over")
			}
		}
		names := []string{"amount", "script", "output left out", "output more", "input left out", "outpoint", "input more", "fee"}
		name := rapid.SampledFrom(names[:len(changes)]).Draw(rt, "change")
		tx := signTransaction(t, p, plan, changes[name], txscript.SigHashAll)
		if signed, err := CheckSigned(p, plan, hexOf(tx)); !errors.As(err, new(*Refusal)) {
			rt.Fatalf("%s changed: CheckSigned gave %+v, %v, want a refusal", name, signed, err)
		}
	})
}

// hostile are bytes that count far more than they hold, in each place where something is counted.
func hostile() map[string][]byte {
	huge := []byte{0xff, 0, 0, 0, 0, 1, 0, 0, 0}
	tx := append([]byte{2, 0, 0, 0}, huge...)
	items := append([]byte{2, 0, 0, 0, 0, 1, 1}, make([]byte, minInput)...)
	items = append(items, 0)
	items = append(items, 0xfe, 0, 0, 4, 0) // 262,144 witness items
	items = append(items, make([]byte, 190_000)...)
	entries := []byte(magic)
	for i := range 80_000 {
		entries = append(entries, 3, byte(i), byte(i>>8), byte(i>>16), 0)
	}
	return map[string][]byte{
		"inputs":       []byte(hex.EncodeToString(tx)),
		"outputs":      []byte(hex.EncodeToString(append(append([]byte{2, 0, 0, 0, 1}, make([]byte, minInput)...), huge...))),
		"items":        []byte(hex.EncodeToString(items)),
		"entries":      entries[:chain.MaxSigned],
		"key":          append([]byte(magic), huge...),
		"value":        append([]byte(magic+"\x01\x00"), huge...),
		"empty inputs": []byte(hex.EncodeToString(append([]byte{2, 0, 0, 0, 0xfd, 0x88, 0x13}, make([]byte, 199_990)...))),
	}
}

// allocated returns the bytes that a function allocates.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// memoryFor bounds the memory for decoding some bytes: 150 for each, and something for the plan.
func memoryFor(returned []byte) uint64 { return uint64(150*len(returned)) + 1<<20 }

// TestDecodingUsesBoundedMemory (SD-8): bytes that count more than they hold are refused without memory for it.
func TestDecodingUsesBoundedMemory(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	for name, returned := range hostile() {
		var err error
		used := allocated(func() { _, err = CheckSigned(p, plan, returned) })
		if !errors.As(err, new(*Refusal)) || used > memoryFor(returned) {
			t.Errorf("%s: %d bytes allocated for %d, %v, want at most %d and a refusal", name, used, len(returned), err, memoryFor(returned))
		}
	}
}

// FuzzCheckSigned: no bytes make CheckSigned panic, use much memory, or take another transaction than the approved one; a
// decoded PSBT is written back as it was read, a decoded transaction is the one that btcsuite reads.
//
//fuzz:inputs 15000
func FuzzCheckSigned(f *testing.F) {
	p := networkOf(f, money.Bitcoin)
	plan := mixedPlan(f, p)
	psbt := signPSBT(f, buildPSBT(f, p, plan), plan.Inputs)
	tx := signTransaction(f, p, plan, leave, txscript.SigHashAll)
	f.Add(psbt)
	f.Add(finalize(f, p, psbt, plan))
	f.Add(hexOf(tx))
	f.Add(rawBytes(tx))
	for _, v := range readVectors(f).Valid[:6] {
		f.Add(decodeBase64(f, v.PSBT))
	}
	f.Fuzz(func(t *testing.T, returned []byte) {
		var signed Signed
		var err error
		if used := allocated(func() { signed, err = CheckSigned(p, plan, returned) }); used > memoryFor(returned) {
			t.Fatalf("%d bytes allocated for %d", used, len(returned))
		}
		if err == nil {
			outputs, _ := readOutputs(t, p, plan, signed.Raw)
			if signed.Fee.Cmp(plan.MaxFee.MulDiv(3, 1)) > 0 || len(outputs) != len(plan.Outputs) ||
				!slices.ContainsFunc(outputs, func(o Output) bool { return reflect.DeepEqual(o, plan.Outputs[0]) }) ||
				!slices.ContainsFunc(outputs, func(o Output) bool { return reflect.DeepEqual(o, plan.Outputs[1]) }) {
				t.Fatalf("another transaction is taken: %+v", signed)
			}
		}
		if decoded, err := decodePSBT(returned); err == nil {
			again, err := decodePSBT(decoded.encode())
			if err != nil || !bytes.Equal(again.encode(), decoded.encode()) {
				t.Fatalf("the PSBT is written back as %x: %v", decoded.encode(), err)
			}
		}
		if decoded, err := readTransaction(returned, true); err == nil && len(decoded.TxIn) > 0 {
			var other wire.MsgTx
			if err := other.Deserialize(bytes.NewReader(returned)); err != nil || !bytes.Equal(rawBytes(decoded), rawBytes(&other)) {
				t.Fatalf("btcsuite reads %x, want %x: %v", rawBytes(&other), rawBytes(decoded), err)
			}
		}
	})
}
