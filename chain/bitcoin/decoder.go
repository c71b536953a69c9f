package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	stdhash "hash"

	"cointill/chain"
)

// maxRaw bounds the bytes that are decoded at once: the weight limit of a block (4,000,000), with
// room for the proof of work of another chain.
const maxRaw = 4 << 20

// The least bytes of a transaction, an input, an output, and a witness item.
const (
	minTx     = 4 + 1 + minInput + 1 + minOutput + 4
	minInput  = outpointLen + 1 + 4
	minOutput = 8 + 1
	minItem   = 1
)

// decoder reads blocks and transactions in place and copies nothing. It keeps the first fault and
// stands at the end from then on: later reads return zeros and nils, and the caller checks fault
// when it has finished.
type decoder struct {
	raw    []byte
	offset int
	fault  string

	hasher stdhash.Hash // for transactions with witnesses
	buffer [32]byte     // its last output
}

// txSpan holds the positions of a transaction's parts in the decoded bytes.
type txSpan struct {
	start   int // start of the transaction
	inputs  int // start of the number of inputs
	outputs int // start of the number of outputs
	witness int // start of the witnesses, end of the outputs
	lock    int // start of the lock time, end of the witnesses
	end     int
	segwit  bool
	// coinbase is true if it spends no output and makes new coins.
	coinbase bool
	// mayBeWatched is true if an input or output of it may be watched.
	mayBeWatched bool
}

func (w *decoder) setFault(fault string) {
	if w.fault == "" {
		w.fault = fault
	}
	w.offset = len(w.raw)
}

const truncated = "it ends too early"

// readBytes returns the next n bytes, or nil if fewer are left.
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

// readVarint reads a length. A length that isn't written in its shortest form is refused, as nodes
// do, because the same transaction would have two ids.
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

// readCount reads the number of parts that follow, of at least size bytes each, and refuses more
// than fit.
func (w *decoder) readCount(size int) uint64 {
	n := w.readVarint()
	if n > uint64((len(w.raw)-w.offset)/size) {
		w.setFault("it counts more parts than it has bytes for")
		return 0
	}
	return n
}

// readTx reads one transaction, with or without witnesses (BIP 144). Neither a single output nor
// their sum may exceed most.
func (w *decoder) readTx(watch chain.Watch, most uint64) txSpan {
	s := txSpan{start: w.offset}
	w.readBytes(4)
	if w.offset+1 < len(w.raw) && w.raw[w.offset] == 0 {
		// No inputs: a marker. The only known flag announces witnesses behind the outputs.
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
		amount := binary.LittleEndian.Uint64(value) // a negative amount reads as a huge one
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

// txID returns the id of a transaction: the hash of all but its witnesses.
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

// emptyWatch is a Watch that watches nothing.
type emptyWatch struct{}

func (emptyWatch) Address(string) bool { return false }
func (emptyWatch) Spend(string) bool   { return false }
func (emptyWatch) Raw([]byte) bool     { return false }
