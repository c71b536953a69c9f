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
		to.Witness = readFinalWitness(witness)
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
	case kind == p2wpkh:
		to.Witness = wire.TxWitness{signature, key}
	}
}

// pushData returns a script that pushes data; nil if a script can't hold it.
func pushData(items ...[]byte) []byte {
	b := txscript.NewScriptBuilder()
	for _, item := range items {
		b.AddData(item)
	}
	script, err := b.Script()
	if err != nil {
		return nil
	}
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
		pushed, err := txscript.PushedData(in.SignatureScript)
		if err != nil || len(items) > 0 || !bytes.Equal(pushData(pushed...), in.SignatureScript) {
			return nil, signatureOdd
		}
		items = pushed
	}
	count := 2 // signature and key
	if kind == p2tr {
		count = 1
	}
	if len(items) != count || (kind == p2wpkh || kind == p2tr) && len(in.SignatureScript) > 0 {
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

// readFinalWitness reads the witness of an input; nil if the PSBT has none for it.
func readFinalWitness(raw []byte) wire.TxWitness {
	if raw == nil {
		return nil
	}
	return (&reader{left: raw}).readWitness()
}
