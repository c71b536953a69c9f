package signing

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"
)

// magic begins each PSBT (BIP 174).
const magic = "psbt\xff"

// Types of keys in a PSBT's maps: BIP 174, and BIP 371 for the ones of taproot.
const (
	globalTransaction = 0x00
	globalVersion     = 0xfb

	inPrevious      = 0x00
	inWitnessOutput = 0x01
	inPartialSig    = 0x02
	inSighash       = 0x03
	inRedeemScript  = 0x04
	inWitnessScript = 0x05
	inOrigin        = 0x06
	inFinalScript   = 0x07
	inFinalWitness  = 0x08
	inTapKeySig     = 0x13
	inTapScriptSig  = 0x14
	inTapLeafScript = 0x15
	inTapOrigin     = 0x16
	inTapKey        = 0x17
	inTapMerkleRoot = 0x18

	outRedeemScript  = 0x00
	outWitnessScript = 0x01
	outOrigin        = 0x02
	outTapKey        = 0x05
	outTapTree       = 0x06
	outTapOrigin     = 0x07
)

// errPSBTVersion is returned for a PSBT of another version than 0, such as BIP 370's.
var errPSBTVersion = errors.New("a PSBT of another version than 0")

// packet is a decoded PSBT of version 0 (BIP 174).
type packet struct {
	tx              *wire.MsgTx // unsigned: without scripts and witnesses in its inputs
	global          []pair      // without the transaction
	inputs, outputs [][]pair    // one map for each of the transaction's
}

// pair is an entry of a map. The first byte of its key is the type; BIP 174 permits types of more
// bytes; none is known.
type pair struct{ key, value []byte }

// findPair returns the value of a type whose key is the type alone; nil if the map has none.
func findPair(m []pair, kind byte) []byte {
	i := slices.IndexFunc(m, func(p pair) bool { return p.key[0] == kind })
	if i < 0 {
		return nil
	}
	return m[i].value
}

// encode writes the PSBT with the entries in the order that they have.
func (p packet) encode() []byte {
	var tx, out bytes.Buffer
	_ = p.tx.SerializeNoWitness(&tx) // a buffer takes everything
	out.WriteString(magic)
	writeMap(&out, append([]pair{{[]byte{globalTransaction}, tx.Bytes()}}, p.global...))
	for _, m := range p.inputs {
		writeMap(&out, m)
	}
	for _, m := range p.outputs {
		writeMap(&out, m)
	}
	return out.Bytes()
}

func writeMap(out *bytes.Buffer, m []pair) {
	for _, entry := range m {
		_ = wire.WriteVarBytes(out, 0, entry.key)
		_ = wire.WriteVarBytes(out, 0, entry.value)
	}
	out.WriteByte(0)
}

// decodePSBT decodes a PSBT of version 0. It checks the form of all entries that BIP 174 and 371
// know, and keeps unknown ones.
func decodePSBT(raw []byte) (packet, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok {
		return packet{}, errors.New("it doesn't begin as a PSBT")
	}
	r := newReader(rest)
	var p packet
	p.global = r.readMap(globalForms)
	// BIP 370 has no transaction in its version 2.
	if version := findPair(p.global, globalVersion); version != nil && !bytes.Equal(version, make([]byte, 4)) {
		return packet{}, errPSBTVersion
	}
	i := slices.IndexFunc(p.global, func(e pair) bool { return e.key[0] == globalTransaction })
	if i < 0 {
		r.SetFault("it has no transaction")
		return packet{}, r.Err()
	}
	tx, err := readTransaction(p.global[i].value, false)
	if err != nil {
		return packet{}, fmt.Errorf("transaction: %w", err)
	}
	p.tx, p.global = tx, slices.Delete(p.global, i, i+1)
	for _, in := range tx.TxIn {
		if len(in.SignatureScript) > 0 {
			return packet{}, errors.New("its transaction is signed")
		}
		p.inputs = append(p.inputs, r.readMap(inputForms))
	}
	for range tx.TxOut {
		p.outputs = append(p.outputs, r.readMap(outputForms))
	}
	if r.CountLeft() > 0 {
		r.SetFault(trailing)
	}
	return p, r.Err()
}

// readMap reads entries up to the end of a map. It refuses a key that is there twice, and an entry
// that hasn't its type's form.
func (r *reader) readMap(forms map[byte]form) (m []pair) {
	seen := map[string]bool{}
	for {
		key := r.ReadBytes(r.ReadVarint())
		if len(key) == 0 { // the end, or an error
			return m
		}
		value := r.ReadBytes(r.ReadVarint())
		if seen[string(key)] {
			r.SetFault(fmt.Sprintf("key %x is there twice", key))
			return nil
		}
		if f, ok := forms[key[0]]; ok && !(f.key(key[1:]) && f.value(value)) {
			r.SetFault(fmt.Sprintf("entry %x hasn't the form of its type", key))
			return nil
		}
		seen[string(key)] = true
		m = append(m, pair{key, value})
	}
}

// form checks an entry's key, without its type, and its value.
type form struct{ key, value func([]byte) bool }

var globalForms = map[byte]form{
	globalTransaction: {hasNone, hasAny},
	globalVersion:     {hasNone, hasLength(4)},
}

var inputForms = map[byte]form{
	inPrevious:      {hasNone, hasAny},
	inWitnessOutput: {hasNone, isOutput},
	inPartialSig:    {isPublicKey, hasSome},
	inSighash:       {hasNone, hasLength(4)},
	inRedeemScript:  {hasNone, hasAny},
	inWitnessScript: {hasNone, hasAny},
	inOrigin:        {isPublicKey, isOrigin},
	inFinalScript:   {hasNone, hasAny},
	inFinalWitness:  {hasNone, isWitness},
	inTapKeySig:     {hasNone, hasLength(64, 65)},
	inTapScriptSig:  {hasLength(64), hasLength(64, 65)},
	inTapLeafScript: {isControlBlock, hasSome},
	inTapOrigin:     {hasLength(32), isTapOrigin},
	inTapKey:        {hasNone, hasLength(32)},
	inTapMerkleRoot: {hasNone, hasLength(32)},
}

var outputForms = map[byte]form{
	outRedeemScript:  {hasNone, hasAny},
	outWitnessScript: {hasNone, hasAny},
	outOrigin:        {isPublicKey, isOrigin},
	outTapKey:        {hasNone, hasLength(32)},
	outTapTree:       {hasNone, hasSome},
	outTapOrigin:     {hasLength(32), isTapOrigin},
}

func hasAny([]byte) bool    { return true }
func hasNone(b []byte) bool { return len(b) == 0 }
func hasSome(b []byte) bool { return len(b) > 0 }

func hasLength(lengths ...int) func([]byte) bool {
	return func(b []byte) bool { return slices.Contains(lengths, len(b)) }
}

// isPublicKey checks the length and prefix that a key has in SEC 1.
func isPublicKey(b []byte) bool {
	return len(b) == 33 && (b[0] == 2 || b[0] == 3) || len(b) == 65 && b[0] == 4
}

func isOrigin(b []byte) bool { return len(b) >= 4 && len(b)%4 == 0 }

// isControlBlock checks the length of a taproot control block (BIP 341).
func isControlBlock(b []byte) bool { return len(b) >= 33 && len(b) <= 33+32*128 && len(b)%32 == 1 }

func isTapOrigin(b []byte) bool {
	r := newReader(b)
	r.ReadBytes(r.ReadCount(32) * 32)
	return isOrigin(r.Raw[r.Offset:])
}

func isOutput(b []byte) bool {
	r := newReader(b)
	r.readOutput()
	return r.Fault == "" && r.CountLeft() == 0
}

func isWitness(b []byte) bool {
	r := newReader(b)
	for range r.ReadCount(1) {
		r.ReadBytes(r.ReadVarint())
	}
	return r.Fault == "" && r.CountLeft() == 0
}
