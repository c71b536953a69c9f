package signing

import (
	"bytes"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// finalizeInput writes the scripts of a PSBT's input into the transaction: the final ones if the
// wallet made them, else from the signature of the input's key (BIP 174, "Input Finalizer"; BIP 371).
// Without a signature it writes none.
func finalizeInput(kind scriptKind, in Input, to *wire.TxIn, m []pair) {
	script, witness := findPair(m, inFinalScript), findPair(m, inFinalWitness)
	if script != nil || witness != nil {
		to.SignatureScript = script
		to.Witness = newReader(witness).readWitness() // empty if there is none
		return
	}
	key := in.Origin.PublicKey
	if kind == p2tr {
		if signature := findPair(m, inTapKeySig); signature != nil {
			to.Witness = wire.TxWitness{signature}
		}
		return
	}
	var signature []byte
	for _, entry := range m {
		if entry.key[0] == inPartialSig && bytes.Equal(entry.key[1:], key) {
			signature = entry.value
		}
	}
	switch {
	case signature == nil:
	case kind == p2pkh:
		to.SignatureScript = pushData(signature, key)
	case kind == p2shP2wpkh:
		to.SignatureScript = pushData(witnessScriptOf(key))
		to.Witness = wire.TxWitness{signature, key}
	default:
		to.Witness = wire.TxWitness{signature, key}
	}
}

// pushData returns a script that pushes data. What is too long for a script is left out, and doesn't
// verify.
func pushData(items ...[]byte) []byte {
	b := txscript.NewScriptBuilder()
	for _, item := range items {
		b.AddData(item)
	}
	script, _ := b.Script()
	return script
}

// signatureState says whether an input has the parts that its type asks for.
type signatureState int

const (
	signatureThere   signatureState = iota
	signatureMissing                // it has no scripts at all
	signatureOdd                    // it has other parts, such as a script path or an annex of taproot
)

// signatureOf returns an input's signature with the byte of its type.
func signatureOf(kind scriptKind, in *wire.TxIn) ([]byte, signatureState) {
	if len(in.SignatureScript) == 0 && len(in.Witness) == 0 {
		return nil, signatureMissing
	}
	items := [][]byte(in.Witness)
	if kind == p2pkh {
		items, _ = txscript.PushedData(in.SignatureScript) // none if it is no script
		if !bytes.Equal(pushData(items...), in.SignatureScript) {
			return nil, signatureOdd
		}
	}
	count := 2 // signature and key
	if kind == p2tr {
		count = 1
	}
	if len(items) != count {
		return nil, signatureOdd
	}
	return items[0], signatureThere
}

// sighashOf returns a signature's type, and whether it covers all inputs and outputs: it is ALL, or for
// taproot DEFAULT, which covers the same and is not written (BIP 341).
func sighashOf(kind scriptKind, signature []byte) (sighash byte, covers bool) {
	switch {
	case len(signature) == 0:
		return 0, false
	case kind == p2tr && len(signature) == schnorr.SignatureSize:
		return byte(txscript.SigHashDefault), true
	}
	sighash = signature[len(signature)-1]
	return sighash, sighash == byte(txscript.SigHashAll)
}
