package signing

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
)

// BuildPSBT writes a plan as an unsigned PSBT of version 0 (BIP 174, and BIP 371 for P2TR), with the
// origins of the inputs' keys and of the change's. Its transaction may be replaced by one with a
// higher fee (BIP 125).
func BuildPSBT(p params.Params, plan Plan) ([]byte, error) {
	tx, err := newTransaction(p, plan)
	if err != nil {
		return nil, err
	}
	made := packet{tx: tx}
	for i, in := range plan.Inputs {
		kind := scriptKindOf(p, in.Script)
		if kind == p2pkh && len(in.Previous) == 0 {
			return nil, fmt.Errorf("%w: input %d: P2PKH without its previous transaction", ErrPlan, i)
		}
		made.inputs = append(made.inputs, inputMap(kind, in))
	}
	for i, out := range plan.Outputs {
		var m []pair
		if out.Change != nil {
			m = changeMap(scriptKindOf(p, tx.TxOut[i].PkScript), *out.Change)
		}
		made.outputs = append(made.outputs, m)
	}
	raw := made.encode()
	if len(raw) > maxPSBT {
		return nil, fmt.Errorf("%w: a PSBT of %d bytes", ErrPlan, len(raw))
	}
	return raw, nil
}

// maxPSBT bounds a PSBT that isn't signed: with signatures and as base64 it is below chain.MaxSigned.
const maxPSBT = 250_000

// inputMap returns an input's entries, sorted by their keys.
func inputMap(kind scriptKind, in Input) (m []pair) {
	if len(in.Previous) > 0 && kind != p2tr {
		m = append(m, pair{[]byte{inPrevious}, in.Previous})
	}
	if kind != p2pkh {
		var out bytes.Buffer
		_ = wire.WriteTxOut(&out, 0, 0, wire.NewTxOut(in.Amount.Big().Int64(), in.Script)) // a buffer takes everything
		m = append(m, pair{[]byte{inWitnessOutput}, out.Bytes()})
	}
	if kind == p2shP2wpkh {
		m = append(m, pair{[]byte{inRedeemScript}, witnessScriptOf(in.Origin.PublicKey)})
	}
	if kind == p2tr {
		return append(m, pair{append([]byte{inTapOrigin}, in.Origin.PublicKey[1:]...), encodeTapOrigin(in.Origin)},
			pair{[]byte{inTapKey}, in.Origin.PublicKey[1:]})
	}
	return append(m, pair{append([]byte{inOrigin}, in.Origin.PublicKey...), encodeOrigin(in.Origin)})
}

// changeMap returns the entries by which a wallet recognises an output as its own.
func changeMap(kind scriptKind, origin chain.KeyOrigin) (m []pair) {
	if kind == p2tr {
		return []pair{{[]byte{outTapKey}, origin.PublicKey[1:]},
			{append([]byte{outTapOrigin}, origin.PublicKey[1:]...), encodeTapOrigin(origin)}}
	}
	if kind == p2shP2wpkh {
		m = append(m, pair{[]byte{outRedeemScript}, witnessScriptOf(origin.PublicKey)})
	}
	return append(m, pair{append([]byte{outOrigin}, origin.PublicKey...), encodeOrigin(origin)})
}

// encodeOrigin writes fingerprint and path (BIP 174, PSBT_IN_BIP32_DERIVATION).
func encodeOrigin(o chain.KeyOrigin) []byte {
	out := slices.Clone(o.Fingerprint[:])
	for _, step := range o.Path {
		out = binary.LittleEndian.AppendUint32(out, step)
	}
	return out
}

// encodeTapOrigin writes an origin of a key that is in no script (BIP 371, PSBT_IN_TAP_BIP32_DERIVATION).
func encodeTapOrigin(o chain.KeyOrigin) []byte { return append([]byte{0}, encodeOrigin(o)...) }

// Unsigned is a transaction for the command signrawtransaction of Bitcoin Core and Dogecoin Core, and
// the later signrawtransactionwithwallet and signrawtransactionwithkey: Hex is the first argument,
// Previous the list of previous outputs.
type Unsigned struct {
	Hex      string           `json:"hex"`
	Previous []PreviousOutput `json:"previous"`
}

// PreviousOutput is an output that the transaction spends.
type PreviousOutput struct {
	TxID         string      `json:"txid"`
	Vout         uint32      `json:"vout"`
	ScriptPubKey string      `json:"scriptPubKey"`
	RedeemScript string      `json:"redeemScript,omitempty"` // of P2SH-P2WPKH
	Amount       json.Number `json:"amount"`                 // whole coins, exactly
}

// BuildUnsigned writes a plan as an unsigned transaction with its previous outputs, for wallets that
// read no PSBT.
func BuildUnsigned(p params.Params, plan Plan) (Unsigned, error) {
	tx, err := newTransaction(p, plan)
	if err != nil {
		return Unsigned{}, err
	}
	var raw bytes.Buffer
	_ = tx.SerializeNoWitness(&raw) // a buffer takes everything
	unsigned := Unsigned{Hex: hex.EncodeToString(raw.Bytes())}
	for _, in := range plan.Inputs {
		previous := PreviousOutput{TxID: in.TxID, Vout: in.Vout, ScriptPubKey: hex.EncodeToString(in.Script),
			Amount: json.Number(p.Coin.Format(in.Amount))}
		if txscript.IsPayToScriptHash(in.Script) {
			previous.RedeemScript = hex.EncodeToString(witnessScriptOf(in.Origin.PublicKey))
		}
		unsigned.Previous = append(unsigned.Previous, previous)
	}
	return unsigned, nil
}
