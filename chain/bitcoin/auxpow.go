package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"

	"golang.org/x/crypto/scrypt"

	"cointill/chain/bitcoin/params"
)

const (
	auxVersion = 0x100 // the bit of a block's version that announces another chain's proof of work
	dogeChain  = 0x62  // Dogecoin's number among merge-mined chains, the version's upper half
	maxBranch  = 30    // levels of a tree of merge-mined chains
)

// mergedMining stands before the root over all merge-mined chains in the
// parent's coinbase.
var mergedMining = []byte{0xfa, 0xbe, 'm', 'm'}

// dogeLimit is the easiest target that Dogecoin's public networks know.
var dogeLimit = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 236), big.NewInt(1))

// proof reads what stands between a block's header and its transactions, and
// verifies the work for the block with that name.
func (w *walk) proof(h header, name digest, p params.Params, verify bool) error {
	work := h // whose work counts
	if p.AuxPow && h.version()&auxVersion != 0 {
		aux, err := w.auxPow()
		if err != nil {
			return err
		}
		if err := aux.check(h, name, p); err != nil {
			return err
		}
		work = aux.parent
	}
	switch {
	case !verify || p.Private:
		return nil
	case !p.AuxPow:
		return checkWork(name, h.bits(), p.PowLimit)
	}
	done, err := scrypt.Key(work, work, 1024, 1, 1, len(digest{}))
	if err != nil {
		return err
	}
	return checkWork(digest(done), h.bits(), dogeLimit)
}

// auxPow is the proof that a miner worked on a block while he worked on a block
// of another chain, the parent: the parent's coinbase holds the root over the
// blocks of all chains that he worked on.
type auxPow struct {
	coinbase digest // the id of the parent's coinbase
	script   []byte // of its first input
	branch   []byte // from the coinbase to the parent's merkle root
	place    uint32
	chains   []byte // from the block to the root in the script
	slot     uint32
	parent   header
}

// auxPow reads the proof behind a header. The parent's coinbase comes with or
// without witnesses; miners sent both.
func (w *walk) auxPow() (auxPow, error) {
	var a auxPow
	s := w.tx(none{}, math.MaxInt64) // of a chain whose rules are not ours to know
	w.take(32)                       // the parent's hash, which nobody sets right
	a.branch, a.place = w.branch()
	a.chains, a.slot = w.branch()
	a.parent = w.take(headerLen)
	if w.fault != "" {
		return a, errors.New("proof of work: " + w.fault)
	}
	a.coinbase = w.id(s)
	first := walk{raw: w.raw, at: s.inputs}
	first.varint()
	first.take(outpointLen)
	a.script = first.take(first.varint())
	return a, nil
}

func (w *walk) branch() (hashes []byte, place uint32) {
	return w.take(w.count(len(digest{})) * uint64(len(digest{}))), w.uint32()
}

// check verifies, as Dogecoin's nodes do, that the parent's coinbase commits to
// the block with that name, and to no other block of its chain.
func (a auxPow) check(h header, name digest, p params.Params) error {
	levels := len(a.chains) / len(digest{})
	number := h.version() >> 16
	switch {
	case a.place != 0:
		return errors.New("proof of work: it is not in the parent's first transaction")
	case !p.Test && number != dogeChain:
		return errors.New("proof of work: it is another chain's block")
	case !p.Test && a.parent.version()>>16 == number:
		return errors.New("proof of work: the parent is of the same chain")
	case levels > maxBranch:
		return errors.New("proof of work: too many chains")
	case climb(a.coinbase, a.branch, 0) != a.parent.merkle():
		return errors.New("proof of work: the parent holds no such transaction")
	}
	root := climb(name, a.chains, a.slot)
	slices.Reverse(root[:])
	at := bytes.Index(a.script, root[:])
	magic := bytes.Index(a.script, mergedMining)
	switch {
	case at < 0:
		return errors.New("proof of work: the parent does not commit to this block")
	case magic < 0 && at > 20, // before the mark was used, the root stood early
		magic >= 0 && magic+len(mergedMining) != at,
		magic >= 0 && bytes.Contains(a.script[magic+1:], mergedMining):
		return errors.New("proof of work: the parent may commit to several blocks")
	}
	rest := a.script[at+len(root):]
	if len(rest) < 8 || binary.LittleEndian.Uint32(rest) != 1<<levels || slotOf(number, binary.LittleEndian.Uint32(rest[4:]), levels) != a.slot {
		return errors.New("proof of work: the parent has another place for this chain")
	}
	return nil
}

// slotOf is the one place that a chain has in a tree of merge-mined chains, so
// that a miner can't put two of its blocks there.
func slotOf(number, nonce uint32, levels int) uint32 {
	const factor, step = 1103515245, 12345
	return ((nonce*factor+step+number)*factor + step) % (1 << levels)
}
