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

// walk reads the bytes of blocks and transactions in place and copies nothing.
// The first thing that is wrong stays in fault, and the walk stands at the end
// from then on: whoever reads sees zeros and nils, and looks at fault when done.
type walk struct {
	raw   []byte
	at    int
	fault string

	hasher stdhash.Hash // of transactions with witnesses
	buffer [32]byte     // what it last wrote
}

// span is where a transaction lies in the walked bytes.
type span struct {
	start   int // of all of it
	inputs  int // of the number of inputs
	outputs int // of the number of outputs
	witness int // of the witnesses; where the outputs end
	lock    int // of the lock time; where the witnesses end
	end     int
	segwit  bool
	// coinbase tells that it spends nothing and makes new coins.
	coinbase bool
	// concerns tells that something in it may be watched.
	concerns bool
}

func (w *walk) fail(fault string) {
	if w.fault == "" {
		w.fault = fault
	}
	w.at = len(w.raw)
}

const truncated = "it ends too early"

// take is the next n bytes, or nil when there are fewer.
func (w *walk) take(n uint64) []byte {
	if n > uint64(len(w.raw)-w.at) {
		w.fail(truncated)
		return nil
	}
	from := w.at
	w.at += int(n)
	return w.raw[from:w.at]
}

func (w *walk) uint32() uint32 {
	if b := w.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// varint reads a length. Lengths that are written longer than need be are
// refused, as nodes do: the same transaction would have two ids.
func (w *walk) varint() uint64 {
	if w.at < len(w.raw) && w.raw[w.at] < 0xfd {
		w.at++
		return uint64(w.raw[w.at-1])
	}
	return w.longVarint()
}

func (w *walk) longVarint() uint64 {
	first := w.take(1)
	if first == nil {
		return 0
	}
	var n, least uint64
	switch first[0] {
	case 0xfd:
		if b := w.take(2); b != nil {
			n, least = uint64(binary.LittleEndian.Uint16(b)), 0xfd
		}
	case 0xfe:
		if b := w.take(4); b != nil {
			n, least = uint64(binary.LittleEndian.Uint32(b)), 1<<16
		}
	default:
		if b := w.take(8); b != nil {
			n, least = binary.LittleEndian.Uint64(b), 1<<32
		}
	}
	if n < least {
		w.fail("a length is not written in its shortest form")
		return 0
	}
	return n
}

// count reads how many things of at least a size follow: never more than fit.
func (w *walk) count(size int) uint64 {
	n := w.varint()
	if n > uint64((len(w.raw)-w.at)/size) {
		w.fail("it counts more parts than it has bytes for")
		return 0
	}
	return n
}

// tx walks over one transaction, with or without witnesses (BIP 144). No
// output, nor all together, may move more than most.
func (w *walk) tx(watch chain.Watch, most uint64) span {
	s := span{start: w.at}
	w.take(4)
	if w.at+1 < len(w.raw) && w.raw[w.at] == 0 {
		// No inputs: a marker. The one flag known says that witnesses follow the outputs.
		if s.segwit = w.raw[w.at+1] == 1; !s.segwit {
			w.fail("a transaction has no inputs, or a flag that is not known")
		}
		w.take(2)
	}
	s.inputs = w.at
	inputs := w.inputs(&s, watch)
	s.outputs = w.at
	w.outputs(&s, watch, most)
	s.witness = w.at
	if s.segwit {
		w.witnesses(inputs)
	}
	s.lock = w.at
	w.take(4)
	s.end = w.at
	return s
}

func (w *walk) inputs(s *span, watch chain.Watch) uint64 {
	inputs := w.count(minInput)
	if inputs == 0 {
		w.fail("a transaction has no inputs")
	}
	for range inputs {
		outpoint := w.take(outpointLen)
		if outpoint == nil {
			return 0
		}
		w.take(w.varint())
		w.take(4)
		switch {
		case !spendsNothing(outpoint):
			s.concerns = s.concerns || watch.Raw(outpoint)
		case inputs == 1:
			s.coinbase = true
		default:
			w.fail("one input of several spends nothing")
		}
	}
	return inputs
}

func (w *walk) outputs(s *span, watch chain.Watch, most uint64) {
	outputs := w.count(minOutput)
	if outputs == 0 {
		w.fail("a transaction has no outputs")
	}
	var total uint64 // at most twice most, which is below 2^63
	for range outputs {
		value := w.take(8)
		if value == nil {
			return
		}
		amount := binary.LittleEndian.Uint64(value) // what is negative is huge
		if total += min(amount, most+1); total > most {
			w.fail("a transaction moves more coins than there can be")
		}
		script := w.take(w.varint())
		s.concerns = s.concerns || watch.Raw(script)
	}
}

func (w *walk) witnesses(inputs uint64) {
	some := false
	for range inputs {
		items := w.count(minItem)
		some = some || items > 0
		for range items {
			w.take(w.varint())
		}
	}
	if !some {
		w.fail("a transaction announces witnesses and has none")
	}
}

// id is the name of a transaction: the hash of all but its witnesses.
func (w *walk) id(s span) digest {
	if !s.segwit {
		return double(w.raw[s.start:s.end])
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

// none is the Watch that watches nothing.
type none struct{}

func (none) Address(string) bool { return false }
func (none) Spend(string) bool   { return false }
func (none) Raw([]byte) bool     { return false }
