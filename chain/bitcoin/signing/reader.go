package signing

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain/bitcoin/bytereader"
)

// reader reads a PSBT or a transaction. Slices that it returns share the memory of the bytes.
type reader struct{ bytereader.Reader }

func newReader(raw []byte) *reader { return &reader{bytereader.Reader{Raw: raw}} }

// trailing is the fault of bytes after the end.
const trailing = "bytes follow its end"

// The least bytes of an input and of an output.
const minInput, minOutput = 32 + 4 + 1 + 4, 8 + 1

// readTransaction decodes a whole transaction, and only that; with witnesses if they are allowed
// (BIP 144).
func readTransaction(raw []byte, witnesses bool) (*wire.MsgTx, error) {
	r := newReader(raw)
	tx := &wire.MsgTx{Version: int32(r.ReadUint32())}
	marked := witnesses && bytes.HasPrefix(r.Raw[r.Offset:], []byte{0, 1})
	if marked {
		r.ReadBytes(2)
	}
	tx.TxIn = make([]*wire.TxIn, r.ReadCount(minInput))
	for i := range tx.TxIn {
		in := &wire.TxIn{}
		copy(in.PreviousOutPoint.Hash[:], r.ReadBytes(32))
		in.PreviousOutPoint.Index = r.ReadUint32()
		in.SignatureScript = r.ReadBytes(r.ReadVarint())
		in.Sequence = r.ReadUint32()
		tx.TxIn[i] = in
	}
	tx.TxOut = make([]*wire.TxOut, r.ReadCount(minOutput))
	for i := range tx.TxOut {
		tx.TxOut[i] = r.readOutput()
	}
	if marked {
		r.readWitnesses(tx)
	}
	tx.LockTime = r.ReadUint32()
	if r.CountLeft() > 0 {
		r.SetFault(trailing)
	}
	return tx, r.Err()
}

func (r *reader) readOutput() *wire.TxOut {
	out := &wire.TxOut{}
	if b := r.ReadBytes(8); b != nil {
		out.Value = int64(binary.LittleEndian.Uint64(b))
	}
	out.PkScript = r.ReadBytes(r.ReadVarint())
	return out
}

func (r *reader) readWitnesses(tx *wire.MsgTx) {
	some := false
	for _, in := range tx.TxIn {
		in.Witness = r.readWitness()
		some = some || len(in.Witness) > 0
	}
	if !some {
		r.SetFault("it announces witnesses and has none")
	}
}

func (r *reader) readWitness() wire.TxWitness {
	items := make(wire.TxWitness, r.ReadCount(1))
	for i := range items {
		items[i] = r.ReadBytes(r.ReadVarint())
	}
	return items
}
