package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// ErrMalformed is what every error of ParseBlock, ParseHeader and ParseTx wraps:
// the bytes are none that an honest node of the network sends.
var ErrMalformed = errors.New("bitcoin: malformed")

// Tx is an unconfirmed transaction, as far as a watch is concerned.
type Tx struct {
	ID        string
	Transfers []chain.Transfer
	Spends    []chain.Spend
	// Inputs are the keys of the outpoints it spends, the first
	// chain.MaxSpends of them; Transfers share the slice.
	Inputs []string
}

const headerLen = 80

// header is a block's first 80 bytes.
type header []byte

func (h header) version() uint32    { return binary.LittleEndian.Uint32(h) }
func (h header) merkleRoot() digest { return digest(h[36:68]) }
func (h header) bits() uint32       { return binary.LittleEndian.Uint32(h[72:]) }
func (h header) blockHash() digest  { return doubleSHA256(h) }
func (h header) minedAt() time.Time {
	return time.Unix(int64(binary.LittleEndian.Uint32(h[68:])), 0).UTC()
}
func (h header) parentHash() string {
	if parent := digest(h[4:36]); parent != (digest{}) {
		return parent.String()
	}
	return ""
}

// ParseHeader reads a block's header, from 80 bytes or more: the block's hash,
// its parent's ("" for the first block), its time and the root over its
// transactions. The work is verified where the header itself holds the proof:
// not on private networks, and not on a chain with merged mining, where
// ParseBlock finds it behind the header.
func ParseHeader(raw []byte, p params.Params) (hash, parent string, at time.Time, merkle [32]byte, err error) {
	if len(raw) < headerLen {
		return "", "", time.Time{}, merkle, fmt.Errorf("%w header: %d bytes", ErrMalformed, len(raw))
	}
	h := header(raw[:headerLen])
	name := h.blockHash()
	if !p.Private && !p.AuxPow {
		if err := checkWork(name, h.bits(), p.PowLimit); err != nil {
			return "", "", time.Time{}, merkle, fmt.Errorf("%w header: %w", ErrMalformed, err)
		}
	}
	return name.String(), h.parentHash(), h.minedAt(), h.merkleRoot(), nil
}

// ParseBlock reads a whole block of which the caller says at what height it
// stands, and lists what in it concerns the watch, in its order.
//
// What the bytes themselves can prove is verified: that the transactions are
// the ones that the header commits to, that exactly the first makes new coins,
// that amounts can be, and, but for private networks, that the header's work
// was done: by double SHA-256, or by scrypt for a chain with merged mining,
// which costs half a millisecond a block. Whether the difficulty is the
// right one other blocks tell: see checkDifficulty.
//
// A transaction of 64 bytes, which could pass for a node of the merkle tree, is
// no reason to refuse a block: consensus allows it, and who sends nodes as
// transactions needs one that looks like a coinbase in the first place, which
// takes some 2^220 hashes.
func ParseBlock(raw []byte, p params.Params, height int64, watch chain.Watch) (chain.Block, error) {
	return parseBlock(raw, p, height, watch, true)
}

// parseBlock is ParseBlock, which without verify believes the header.
func parseBlock(raw []byte, p params.Params, height int64, watch chain.Watch, verify bool) (chain.Block, error) {
	if len(raw) < headerLen || len(raw) > maxRaw {
		return chain.Block{}, fmt.Errorf("%w block: %d bytes", ErrMalformed, len(raw))
	}
	h := header(raw[:headerLen])
	name := h.blockHash()
	w := decoder{raw: raw, offset: headerLen}
	if err := w.readProof(h, name, p, verify); err != nil {
		return chain.Block{}, fmt.Errorf("%w block %s: %w", ErrMalformed, name, err)
	}
	f := matcher{params: p, watch: watch}
	root, err := w.readTransactions(&f, verify)
	if err == nil && verify && root != h.merkleRoot() {
		err = errors.New("the header commits to other transactions")
	}
	if err != nil {
		return chain.Block{}, fmt.Errorf("%w block %s: %w", ErrMalformed, name, err)
	}
	return chain.Block{
		Header:    chain.Header{BlockID: chain.BlockID{Height: height, Hash: name.String()}, Parent: h.parentHash(), Time: h.minedAt()},
		Transfers: f.transfers, Spends: f.spends,
	}, nil
}

// readTransactions walks over all transactions of a block to its end, and gives
// the root over them.
func (w *decoder) readTransactions(f *matcher, verify bool) (root digest, err error) {
	var tree merkleTree
	count, most := w.readCount(minTx), maxAmount(f.params)
	for i := range count {
		s := w.readTx(f.watch, most)
		if w.fault == "" && s.coinbase != (i == 0) {
			w.setFault("not exactly the first transaction makes new coins")
		}
		if w.fault != "" {
			return root, fmt.Errorf("transaction %d: %s", i, w.fault)
		}
		if !verify && !s.mayBeWatched {
			continue
		}
		id := w.txID(s)
		if verify {
			tree.addLeaf(id)
		}
		if s.mayBeWatched {
			if err := f.matchTx(w.raw, s, id); err != nil {
				return root, fmt.Errorf("transaction %d: %w", i, err)
			}
		}
	}
	switch {
	case w.fault != "":
		return root, errors.New(w.fault)
	case count == 0:
		return root, errors.New("it has no transactions")
	case w.offset != len(w.raw):
		return root, fmt.Errorf("%d bytes follow its transactions", len(w.raw)-w.offset)
	case !verify:
		return root, nil
	}
	if root = tree.computeRoot(); tree.repeated {
		return root, errors.New("its merkle tree holds a part twice")
	}
	return root, nil
}

// ParseTx reads one transaction that no block holds yet; a coinbase is refused,
// as it exists in blocks only.
func ParseTx(raw []byte, p params.Params, watch chain.Watch) (Tx, error) {
	if len(raw) > maxRaw {
		return Tx{}, fmt.Errorf("%w transaction: %d bytes", ErrMalformed, len(raw))
	}
	w := decoder{raw: raw}
	s := w.readTx(watch, maxAmount(p))
	switch {
	case w.fault != "":
		return Tx{}, fmt.Errorf("%w transaction: %s", ErrMalformed, w.fault)
	case w.offset != len(raw):
		return Tx{}, fmt.Errorf("%w transaction: %d bytes follow it", ErrMalformed, len(raw)-w.offset)
	case s.coinbase:
		return Tx{}, fmt.Errorf("%w transaction: a coinbase outside of a block", ErrMalformed)
	}
	id := w.txID(s)
	tx := Tx{ID: id.String(), Inputs: inputKeys(raw, s)}
	if !s.mayBeWatched {
		return tx, nil
	}
	f := matcher{params: p, watch: watch, inputKeys: tx.Inputs}
	if err := f.matchTx(raw, s, id); err != nil {
		return Tx{}, fmt.Errorf("%w transaction: %w", ErrMalformed, err)
	}
	tx.Transfers, tx.Spends = f.transfers, f.spends
	return tx, nil
}

// maxAmount is the most of a coin that the rules of its chain let one
// transaction move, in its smallest unit.
func maxAmount(p params.Params) uint64 {
	if p.Coin == money.DOGE {
		return 10_000_000_000 * 1e8
	}
	return 21_000_000 * 1e8
}
