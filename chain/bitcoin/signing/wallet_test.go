package signing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// names of the script types, for the tests' output.
var kindNames = map[scriptKind]string{p2pkh: "P2PKH", p2shP2wpkh: "P2SH-P2WPKH", p2wpkh: "P2WPKH", p2tr: "P2TR"}

var kinds = []scriptKind{p2pkh, p2shP2wpkh, p2wpkh, p2tr}

// readOutputs returns what a signed transaction pays, with the origins of a plan, and its size in virtual bytes.
func readOutputs(t testing.TB, p params.Params, plan Plan, raw []byte) (outputs []Output, vsize int64) {
	t.Helper()
	tx, err := readTransaction(raw, true)
	if err != nil {
		t.Fatal(err)
	}
	origins := map[string]*chain.KeyOrigin{}
	for _, out := range plan.Outputs {
		origins[out.Address] = out.Change // the change is the last
	}
	for _, out := range tx.TxOut {
		to := p.Address(out.PkScript)
		outputs = append(outputs, Output{to, money.Units(out.Value), origins[to]})
	}
	return outputs, int64(3*tx.SerializeSizeStripped()+len(raw)+3) / 4
}

func networkOf(t testing.TB, c money.Chain) params.Params {
	t.Helper()
	p, ok := params.Lookup(c, "regtest")
	if !ok {
		t.Fatalf("no regtest of %s", c)
	}
	return p
}

// privateKey returns the wallet's key of a number.
func privateKey(n int) *btcec.PrivateKey {
	seed := sha256.Sum256(fmt.Appendf(nil, "key %d", n))
	key, _ := btcec.PrivKeyFromBytes(seed[:])
	return key
}

func originOf(n int) chain.KeyOrigin {
	return chain.KeyOrigin{Fingerprint: [4]byte{1, 2, 3, 4}, Path: []uint32{1<<31 + 84, 1<<31 + 1, 1 << 31, 0, uint32(n)},
		PublicKey: privateKey(n).PubKey().SerializeCompressed()}
}

// unspentOutput returns an output that the wallet's key n can spend, made by a transaction of its own.
func unspentOutput(kind scriptKind, n int, amount int64) Input {
	origin := originOf(n)
	script := kind.scriptOf(origin.PublicKey)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(n)}, SignatureScript: []byte{txscript.OP_1}})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	tx.AddTxOut(wire.NewTxOut(amount, script))
	return Input{TxID: tx.TxID(), Vout: 1, Amount: money.Units(amount), Script: script, Previous: rawBytes(tx), Origin: origin}
}

func rawBytes(tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw)
	return raw.Bytes()
}

// payTo returns an output to an address of somebody else.
func payTo(p params.Params, kind scriptKind, n int, amount int64) Output {
	return Output{Address: p.Address(kind.scriptOf(originOf(1000 + n).PublicKey)), Amount: money.Units(amount)}
}

// changeOf returns an output to the account itself.
func changeOf(p params.Params, kind scriptKind) Output {
	origin := originOf(500)
	return Output{Address: p.Address(kind.scriptOf(origin.PublicKey)), Change: &origin}
}

// signInput returns an input's signature with its type, as a wallet makes it.
func signInput(t testing.TB, tx *wire.MsgTx, i int, in Input, key *btcec.PrivateKey, spent []Input, sighash txscript.SigHashType) []byte {
	t.Helper()
	outputs := map[wire.OutPoint]*wire.TxOut{}
	for j, other := range spent {
		outputs[tx.TxIn[j].PreviousOutPoint] = wire.NewTxOut(other.Amount.Big().Int64(), other.Script)
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(outputs))
	amount := in.Amount.Big().Int64()
	var signature []byte
	var err error
	switch {
	case txscript.IsPayToPubKeyHash(in.Script):
		signature, err = txscript.RawTxInSignature(tx, i, in.Script, sighash, key)
	case txscript.IsPayToTaproot(in.Script):
		if sighash == txscript.SigHashAll {
			sighash = txscript.SigHashDefault
		}
		signature, err = txscript.RawTxInTaprootSignature(tx, hashes, i, amount, in.Script, nil, sighash, key)
	default:
		script := witnessScriptOf(key.PubKey().SerializeCompressed())
		signature, err = txscript.RawTxInWitnessSignature(tx, hashes, i, amount, script, sighash, key)
	}
	if err != nil {
		t.Fatalf("sign input %d: %v", i, err)
	}
	return signature
}

// signingKey finds the wallet's key of a plan's input.
func signingKey(in Input) *btcec.PrivateKey {
	return privateKey(int(in.Origin.Path[len(in.Origin.Path)-1]))
}

// signPSBT adds a signature to each input of a PSBT that pays by a plan.
func signPSBT(t testing.TB, raw []byte, inputs []Input) []byte {
	t.Helper()
	made, err := decodePSBT(raw)
	if err != nil {
		t.Fatalf("decode the PSBT: %v", err)
	}
	for i, in := range inputs {
		signature := signInput(t, made.tx, i, in, signingKey(in), inputs, txscript.SigHashAll)
		entry := pair{append([]byte{inPartialSig}, in.Origin.PublicKey...), signature}
		if txscript.IsPayToTaproot(in.Script) {
			entry = pair{[]byte{inTapKeySig}, signature}
		}
		made.inputs[i] = append(made.inputs[i], entry)
	}
	return made.encode()
}

// signTransaction returns a plan's transaction, changed by edit, with all signatures.
func signTransaction(t testing.TB, p params.Params, plan Plan, edit func(*wire.MsgTx), sighash txscript.SigHashType) *wire.MsgTx {
	t.Helper()
	tx, err := newTransaction(p, plan)
	if err != nil {
		t.Fatalf("newTransaction: %v", err)
	}
	edit(tx)
	var inputs []Input
	for _, in := range tx.TxIn {
		at := slices.IndexFunc(plan.Inputs, func(of Input) bool { return of.Outpoint() == in.PreviousOutPoint.String() })
		inputs = append(inputs, plan.Inputs[max(at, 0)]) // a foreign input is signed for another output
	}
	for i, in := range inputs {
		signature := signInput(t, tx, i, in, signingKey(in), inputs, sighash)
		entries := []pair{{append([]byte{inPartialSig}, in.Origin.PublicKey...), signature}, {[]byte{inTapKeySig}, signature}}
		finalizeInput(scriptKindOf(p, in.Script), in, tx.TxIn[i], entries)
	}
	return tx
}

func leave(*wire.MsgTx) {}

func hexOf(tx *wire.MsgTx) []byte { return []byte(hex.EncodeToString(rawBytes(tx))) }
