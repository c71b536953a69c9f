package signing

import (
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"

	"cointill/chain/bitcoin/params"
)

// scriptKind is the type of an output that one key can spend.
type scriptKind int

const (
	unknownScript scriptKind = iota
	p2pkh
	p2shP2wpkh // BIP 49: the script alone doesn't tell it from other P2SH; its key does
	p2wpkh     // BIP 84
	p2tr       // BIP 86: spent by the key path
)

// scriptKindOf returns a script's type; unknownScript if it isn't spent here, or not on the network.
func scriptKindOf(p params.Params, script []byte) scriptKind {
	switch {
	case txscript.IsPayToPubKeyHash(script):
		return p2pkh
	case !p.Segwit:
		return unknownScript
	case txscript.IsPayToScriptHash(script):
		return p2shP2wpkh
	case txscript.IsPayToWitnessPubKeyHash(script):
		return p2wpkh
	case txscript.IsPayToTaproot(script):
		return p2tr
	}
	return unknownScript
}

// scriptOf returns the script that pays a compressed public key, or nil if it isn't one.
func (k scriptKind) scriptOf(key []byte) []byte {
	if len(key) != btcec.PubKeyBytesLenCompressed {
		return nil
	}
	parsed, err := btcec.ParsePubKey(key)
	if err != nil {
		return nil
	}
	switch k {
	case p2pkh:
		return slices.Concat([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, address.Hash160(key),
			[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
	case p2shP2wpkh:
		return slices.Concat([]byte{txscript.OP_HASH160, 20}, address.Hash160(witnessScriptOf(key)),
			[]byte{txscript.OP_EQUAL})
	case p2wpkh:
		return witnessScriptOf(key)
	case p2tr:
		return slices.Concat([]byte{txscript.OP_1, 32},
			schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(parsed)))
	}
	return nil
}

// witnessScriptOf returns the P2WPKH script of a key, which P2SH-P2WPKH has as its redeem script.
func witnessScriptOf(key []byte) []byte {
	return slices.Concat([]byte{txscript.OP_0, 20}, address.Hash160(key))
}
