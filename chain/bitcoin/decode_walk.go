package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	stdhash "hash"

	"cointill/chain"
)

// maxRaw bounds what is decoded at once: a block's weight limit (4,000,000),
// with room for the proof of work of another chain.
const maxRaw = 4 << 20

// The fewest bytes of a transaction, an input, an output, and a witness item.
const (
	minTx     = 4 + 1 + minInput + 1 + minOutput + 4
	minInput  = outpointLen + 1 + 4
	minOutput = 8 + 1
	minItem   = 1
)

// decoder reads the bytes of blocks and transactions in place and copies nothing.
// The first thing that is wrong stays in fault, and the walk stands at the end
// from then on: whoever reads sees zeros and nils, and looks at fault when done.
type decoder struct {
	raw    []byte
	offset int
	fault  string

	hasher stdhash.Hash // of transactions with witnesses
	buffer [32]byte     // what it last wrote
}

// txSpan is where a transaction lies in the walked bytes.
type txSpan struct {
	start   int // of all of it
	inputs  int // of the number of inputs
	outputs int // of the number of outputs
	witness int // of the witnesses; where the outputs end
	lock    int // of the lock time; where the witnesses end
	end     int
	segwit  bool
	// coinbase tells that it spends nothing and makes new coins.
	coinbase bool
	// mayBeWatched tells that something in it may be watched.
	mayBeWatched bool
}

func (w *decoder) setFault(fault string) {
	if w.fault == "" {
		w.fault = fault
	}
	w.offset = len(w.raw)
}

const truncated = "it ends too early"

// readBytes is the next n bytes, or nil when there are fewer.
func (w *decoder) readBytes(n uint64) []byte {
	if n > uint64(len(w.raw)-w.offset) {
		w.setFault(truncated)
		return nil
	}
	from := w.offset
	w.offset += int(n)
	return w.raw[from:w.offset]
}

func (w *decoder) readUint32() uint32 {
	if b := w.readBytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// readVarint reads a length. Lengths that are written longer than need be are
// refused, as nodes do: the same transaction would have two ids.
func (w *decoder) readVarint() uint64 {
	if w.offset < len(w.raw) && w.raw[w.offset] < 0xfd {
		w.offset++
		return uint64(w.raw[w.offset-1])
	}
	return w.readLongVarint()
}

func (w *decoder) readLongVarint() uint64 {
	first := w.readBytes(1)
	if first == nil {
		return 0
	}
	var n, least uint64
	switch first[0] {
	case 0xfd:
		if b := w.readBytes(2); b != nil {
			n, least = uint64(binary.LittleEndian.Uint16(b)), 0xfd
		}
	case 0xfe:
		if b := w.readBytes(4); b != nil {
			n, least = uint64(binary.LittleEndian.Uint32(b)), 1<<16
		}
	default:
		if b := w.readBytes(8); b != nil {
			n, least = binary.LittleEndian.Uint64(b), 1<<32
		}
	}
	if n < least {
		w.setFault("a length is not written in its shortest form")
		return 0
	}
	return n
}

// readCount reads how many things of at least a size follow: never more than fit.
func (w *decoder) readCount(size int) uint64 {
	n := w.readVarint()
	if n > uint64((len(w.raw)-w.offset)/size) {
		w.setFault("it counts more parts than it has bytes for")
		return 0
	}
	return n
}

// readTx walks over one transaction, with or without witnesses (BIP 144). No
// output, nor all together, may move more than most.
func (w *decoder) readTx(watch chain.Watch, most uint64) txSpan {
	s := txSpan{start: w.offset}
	w.readBytes(4)
	if w.offset+1 < len(w.raw) && w.raw[w.offset] == 0 {
		// No inputs: a marker. The one flag known says that witnesses follow the outputs.
		if s.segwit = w.raw[w.offset+1] == 1; !s.segwit {
			w.setFault("a transaction has no inputs, or a flag that is not known")
		}
		w.readBytes(2)
	}
	s.inputs = w.offset
	inputs := w.readInputs(&s, watch)
	s.outputs = w.offset
	w.readOutputs(&s, watch, most)
	s.witness = w.offset
	if s.segwit {
		w.readWitnesses(inputs)
	}
	s.lock = w.offset
	w.readBytes(4)
	s.end = w.offset
	return s
}

func (w *decoder) readInputs(s *txSpan, watch chain.Watch) uint64 {
	inputs := w.readCount(minInput)
	if inputs == 0 {
		w.setFault("a transaction has no inputs")
	}
	for range inputs {
		outpoint := w.readBytes(outpointLen)
		if outpoint == nil {
			return 0
		}
		w.readBytes(w.readVarint())
		w.readBytes(4)
		switch {
		case !spendsNothing(outpoint):
			s.mayBeWatched = s.mayBeWatched || watch.Raw(outpoint)
		case inputs == 1:
			s.coinbase = true
		default:
			w.setFault("one input of several spends nothing")
		}
	}
	return inputs
}

func (w *decoder) readOutputs(s *txSpan, watch chain.Watch, most uint64) {
	outputs := w.readCount(minOutput)
	if outputs == 0 {
		w.setFault("a transaction has no outputs")
	}
	var total uint64 // at most twice most, which is below 2^63
	for range outputs {
		value := w.readBytes(8)
		if value == nil {
			return
		}
		amount := binary.LittleEndian.Uint64(value) // what is negative is huge
		if total += min(amount, most+1); total > most {
			w.setFault("a transaction moves more coins than there can be")
		}
		script := w.readBytes(w.readVarint())
		s.mayBeWatched = s.mayBeWatched || watch.Raw(script)
	}
}

func (w *decoder) readWitnesses(inputs uint64) {
	some := false
	for range inputs {
		items := w.readCount(minItem)
		some = some || items > 0
		for range items {
			w.readBytes(w.readVarint())
		}
	}
	if !some {
		w.setFault("a transaction announces witnesses and has none")
	}
}

// txID is the name of a transaction: the hash of all but its witnesses.
func (w *decoder) txID(s txSpan) digest {
	if !s.segwit {
		return doubleSHA256(w.raw[s.start:s.end])
	}
	if w.hasher == nil {
		w.hasher = sha256.New()
	}
	w.hasher.Reset()
	w.hasher.Write(w.raw[s.start : s.start+4])
	w.hasher.Write(w.raw[s.inputs:s.witness])
	w.hasher.Write(w.raw[s.lock:s.end])
	return sha256.Sum256(w.hasher.Sum(w.buffer[:0]))
}

// emptyWatch is the Watch that watches nothing.
type emptyWatch struct{}

func (emptyWatch) Address(string) bool { return false }
func (emptyWatch) Spend(string) bool   { return false }
func (emptyWatch) Raw([]byte) bool     { return false }
