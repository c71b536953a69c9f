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
	auxPowVersionBit = 0x100 // bit of a block's version that announces the proof of work of another chain
	dogecoinChainID  = 0x62  // Dogecoin's number among merge-mined chains, in the upper half of the version
	maxChainLevels   = 30    // levels of a tree of merge-mined chains
)

// mergedMiningMark precedes the root over all merge-mined chains in the parent's coinbase.
var mergedMiningMark = []byte{0xfa, 0xbe, 'm', 'm'}

// dogecoinPowLimit is the easiest target on Dogecoin's public networks.
var dogecoinPowLimit = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 236), big.NewInt(1))

// readProof reads the proof between a block's header and its transactions, and verifies the work
// for the block with this hash.
func (w *decoder) readProof(h header, name digest, p params.Params, verify bool) error {
	work := h // the header whose work counts
	if p.AuxPow && h.version()&auxPowVersionBit != 0 {
		aux, err := w.readAuxPow()
		if err != nil {
			return err
		}
		if err := aux.verifyCommitment(h, name, p); err != nil {
			return err
		}
		work = aux.parent
	}
	switch {
	case !verify || p.Private:
		return nil
	case !p.AuxPow:
		return params.CheckWork(name, h.bits(), p.PowLimit)
	}
	done, _ := scrypt.Key(work, work, 1024, 1, 1, len(digest{})) // it fails only for other parameters
	return params.CheckWork(digest(done), h.bits(), dogecoinPowLimit)
}

// auxPow proves that a miner worked on a block while mining a block of another chain, the parent.
// The parent's coinbase holds the root over the blocks of all chains that the miner worked on.
type auxPow struct {
	coinbaseID     digest // the id of the parent's coinbase
	coinbaseScript []byte // script of its first input
	coinbaseBranch []byte // hashes from the coinbase to the parent's merkle root
	coinbaseIndex  uint32
	chainBranch    []byte // hashes from the block to the root in the script
	chainIndex     uint32
	parent         header
}

// readAuxPow reads the proof behind a header. The parent's coinbase may have witnesses or not;
// miners sent both.
func (w *decoder) readAuxPow() (auxPow, error) {
	var a auxPow
	s := w.readTx(emptyWatch{}, math.MaxInt64) // the amounts follow the rules of another chain
	w.ReadBytes(32)                            // the parent's hash, which miners don't fill in correctly
	a.coinbaseBranch, a.coinbaseIndex = w.readBranch()
	a.chainBranch, a.chainIndex = w.readBranch()
	a.parent = w.ReadBytes(headerLen)
	if w.Fault != "" {
		return a, errors.New("proof of work: " + w.Fault)
	}
	a.coinbaseID = w.txID(s)
	first := newDecoder(w.Raw, s.inputs)
	first.ReadVarint()
	first.ReadBytes(outpointLen)
	a.coinbaseScript = first.ReadBytes(first.ReadVarint())
	return a, nil
}

func (w *decoder) readBranch() (hashes []byte, place uint32) {
	return w.ReadBytes(w.ReadCount(len(digest{})) * uint64(len(digest{}))), w.ReadUint32()
}

// verifyCommitment verifies, by the rules of Dogecoin Core, that the parent's coinbase commits to
// the block with this hash and to no other block of its chain.
func (a auxPow) verifyCommitment(h header, name digest, p params.Params) error {
	levels := len(a.chainBranch) / len(digest{})
	number := h.version() >> 16
	switch {
	case a.coinbaseIndex != 0:
		return errors.New("proof of work: it is not in the parent's first transaction")
	case !p.Test && number != dogecoinChainID:
		return errors.New("proof of work: it is another chain's block")
	case !p.Test && a.parent.version()>>16 == number:
		return errors.New("proof of work: the parent is of the same chain")
	case levels > maxChainLevels:
		return errors.New("proof of work: too many chains")
	case branchRoot(a.coinbaseID, a.coinbaseBranch, 0) != a.parent.merkleRoot():
		return errors.New("proof of work: the parent holds no such transaction")
	}
	root := branchRoot(name, a.chainBranch, a.chainIndex)
	slices.Reverse(root[:])
	at := bytes.Index(a.coinbaseScript, root[:])
	magic := bytes.Index(a.coinbaseScript, mergedMiningMark)
	switch {
	case at < 0:
		return errors.New("proof of work: the parent does not commit to this block")
	case magic < 0 && at > 20, // before the mark was used, the root stood early
		magic >= 0 && magic+len(mergedMiningMark) != at,
		bytes.Contains(a.coinbaseScript[magic+1:], mergedMiningMark):
		return errors.New("proof of work: the parent may commit to several blocks")
	}
	rest := a.coinbaseScript[at+len(root):]
	if len(rest) < 8 || binary.LittleEndian.Uint32(rest) != 1<<levels ||
		expectedChainIndex(number, binary.LittleEndian.Uint32(rest[4:]), levels) != a.chainIndex {
		return errors.New("proof of work: the parent has another place for this chain")
	}
	return nil
}

// expectedChainIndex returns the only index that a chain may have in a tree of merge-mined chains.
// So a miner can't put two blocks of the chain there.
func expectedChainIndex(number, nonce uint32, levels int) uint32 {
	const factor, step = 1103515245, 12345
	return ((nonce*factor+step+number)*factor + step) % (1 << levels)
}
