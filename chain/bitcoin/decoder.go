package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	stdhash "hash"

	"cointill/chain"
	"cointill/chain/bitcoin/bytereader"
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

// decoder reads blocks and transactions.
type decoder struct {
	bytereader.Reader
	hasher stdhash.Hash // for transactions with witnesses
	buffer [32]byte     // its last output
}

// newDecoder returns a decoder that begins at an offset.
func newDecoder(raw []byte, offset int) *decoder {
	return &decoder{Reader: bytereader.Reader{Raw: raw, Offset: offset}}
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

// readTx reads one transaction, with or without witnesses (BIP 144). Neither a single output nor
// their sum may exceed most.
func (w *decoder) readTx(watch chain.Watch, most uint64) txSpan {
	s := txSpan{start: w.Offset}
	w.ReadBytes(4)
	if w.Offset+1 < len(w.Raw) && w.Raw[w.Offset] == 0 {
		// No inputs: a marker. The only known flag announces witnesses behind the outputs.
		if s.segwit = w.Raw[w.Offset+1] == 1; !s.segwit {
			w.SetFault("a transaction has no inputs, or a flag that is not known")
		}
		w.ReadBytes(2)
	}
	s.inputs = w.Offset
	inputs := w.readInputs(&s, watch)
	s.outputs = w.Offset
	w.readOutputs(&s, watch, most)
	s.witness = w.Offset
	if s.segwit {
		w.readWitnesses(inputs)
	}
	s.lock = w.Offset
	w.ReadBytes(4)
	s.end = w.Offset
	return s
}

func (w *decoder) readInputs(s *txSpan, watch chain.Watch) uint64 {
	inputs := w.ReadCount(minInput)
	if inputs == 0 {
		w.SetFault("a transaction has no inputs")
	}
	for range inputs {
		outpoint := w.ReadBytes(outpointLen)
		if outpoint == nil {
			return 0
		}
		w.ReadBytes(w.ReadVarint())
		w.ReadBytes(4)
		switch {
		case !spendsNothing(outpoint):
			s.mayBeWatched = s.mayBeWatched || watch.Raw(outpoint)
		case inputs == 1:
			s.coinbase = true
		default:
			w.SetFault("one input of several spends nothing")
		}
	}
	return inputs
}

func (w *decoder) readOutputs(s *txSpan, watch chain.Watch, most uint64) {
	outputs := w.ReadCount(minOutput)
	if outputs == 0 {
		w.SetFault("a transaction has no outputs")
	}
	var total uint64 // at most twice most, which is below 2^63
	for range outputs {
		value := w.ReadBytes(8)
		if value == nil {
			return
		}
		amount := binary.LittleEndian.Uint64(value) // a negative amount reads as a huge one
		if total += min(amount, most+1); total > most {
			w.SetFault("a transaction moves more coins than there can be")
		}
		script := w.ReadBytes(w.ReadVarint())
		s.mayBeWatched = s.mayBeWatched || watch.Raw(script)
	}
}

func (w *decoder) readWitnesses(inputs uint64) {
	some := false
	for range inputs {
		items := w.ReadCount(minItem)
		some = some || items > 0
		for range items {
			w.ReadBytes(w.ReadVarint())
		}
	}
	if !some {
		w.SetFault("a transaction announces witnesses and has none")
	}
}

// txID returns the id of a transaction: the hash of all but its witnesses.
func (w *decoder) txID(s txSpan) digest {
	if !s.segwit {
		return doubleSHA256(w.Raw[s.start:s.end])
	}
	if w.hasher == nil {
		w.hasher = sha256.New()
	}
	w.hasher.Reset()
	w.hasher.Write(w.Raw[s.start : s.start+4])
	w.hasher.Write(w.Raw[s.inputs:s.witness])
	w.hasher.Write(w.Raw[s.lock:s.end])
	return sha256.Sum256(w.hasher.Sum(w.buffer[:0]))
}

// emptyWatch is a Watch that watches nothing.
type emptyWatch struct{}

func (emptyWatch) Address(string) bool { return false }
func (emptyWatch) Spend(string) bool   { return false }
func (emptyWatch) Raw([]byte) bool     { return false }
