package signing

import (
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/wire/v2"
)

var (
	errTruncated = errors.New("it ends too early")
	errTrailing  = errors.New("bytes follow its end")
)

// reader reads bytes from a memory that is bounded by the caller. It keeps its first error; later
// reads return zeros. Slices that it returns share the memory.
type reader struct {
	left []byte
	err  error
}

// fail keeps the first error.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.left = nil
}

func (r *reader) readBytes(n uint64) []byte {
	if n > uint64(len(r.left)) {
		r.fail(errTruncated)
		return nil
	}
	read := r.left[:n:n]
	r.left = r.left[n:]
	return read
}

func (r *reader) readUint32() uint32 {
	if b := r.readBytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// readVarint reads a compact size integer in its shortest form.
func (r *reader) readVarint() uint64 {
	first := r.readBytes(1)
	if first == nil {
		return 0
	}
	var n, least uint64
	switch first[0] {
	case 0xfd:
		if b := r.readBytes(2); b != nil {
			n, least = uint64(binary.LittleEndian.Uint16(b)), 0xfd
		}
	case 0xfe:
		if b := r.readBytes(4); b != nil {
			n, least = uint64(binary.LittleEndian.Uint32(b)), 1<<16
		}
	case 0xff:
		if b := r.readBytes(8); b != nil {
			n, least = binary.LittleEndian.Uint64(b), 1<<32
		}
	default:
		return uint64(first[0])
	}
	if n < least {
		r.fail(errors.New("a length is not written in its shortest form"))
		return 0
	}
	return n
}

// readCount reads how many parts of at least size bytes follow, and refuses more than fit, so that
// memory for them is bounded by the bytes that were read.
func (r *reader) readCount(size int) int {
	n := r.readVarint()
	if n > uint64(len(r.left)/size) {
		r.fail(errors.New("it counts more parts than it has bytes for"))
		return 0
	}
	return int(n)
}

// The least bytes of an input and of an output.
const minInput, minOutput = 32 + 4 + 1 + 4, 8 + 1

// readTransaction decodes a whole transaction, and only that; with witnesses if they are allowed
// (BIP 144).
func readTransaction(raw []byte, witnesses bool) (*wire.MsgTx, error) {
	r := &reader{left: raw}
	tx := &wire.MsgTx{Version: int32(r.readUint32())}
	marked := witnesses && len(r.left) > 1 && r.left[0] == 0 && r.left[1] == 1
	if marked {
		r.readBytes(2)
	}
	tx.TxIn = make([]*wire.TxIn, r.readCount(minInput))
	for i := range tx.TxIn {
		in := &wire.TxIn{}
		copy(in.PreviousOutPoint.Hash[:], r.readBytes(32))
		in.PreviousOutPoint.Index = r.readUint32()
		in.SignatureScript = r.readBytes(r.readVarint())
		in.Sequence = r.readUint32()
		tx.TxIn[i] = in
	}
	tx.TxOut = make([]*wire.TxOut, r.readCount(minOutput))
	for i := range tx.TxOut {
		tx.TxOut[i] = r.readOutput()
	}
	if marked {
		r.readWitnesses(tx)
	}
	tx.LockTime = r.readUint32()
	if len(r.left) > 0 {
		r.fail(errTrailing)
	}
	return tx, r.err
}

func (r *reader) readOutput() *wire.TxOut {
	out := &wire.TxOut{}
	if b := r.readBytes(8); b != nil {
		out.Value = int64(binary.LittleEndian.Uint64(b))
	}
	out.PkScript = r.readBytes(r.readVarint())
	return out
}

func (r *reader) readWitnesses(tx *wire.MsgTx) {
	some := false
	for _, in := range tx.TxIn {
		in.Witness = r.readWitness()
		some = some || len(in.Witness) > 0
	}
	if !some {
		r.fail(errors.New("it announces witnesses and has none"))
	}
}

func (r *reader) readWitness() wire.TxWitness {
	items := make(wire.TxWitness, r.readCount(1))
	for i := range items {
		items[i] = r.readBytes(r.readVarint())
	}
	return items
}
