package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
)

// ErrMalformed is wrapped by every error of ParseBlock, ParseHeader and ParseTx: no honest node of
// the network sends these bytes.
var ErrMalformed = errors.New("bitcoin: malformed")

// Tx is an unconfirmed transaction with its watched transfers and spends.
type Tx struct {
	ID        string
	Transfers []chain.Transfer
	Spends    []chain.Spend
	// Inputs are the keys of the outpoints that it spends, at most chain.MaxSpends. The Transfers
	// share the slice.
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

// ParseHeader parses a block's header from 80 bytes or more: the block's hash, its parent's ("" for
// the first block), its time and the root over its transactions. It verifies the work if the header
// itself holds the proof: not on private networks, and not on a chain with merged mining, where
// ParseBlock finds it behind the header.
func ParseHeader(raw []byte, p params.Params) (hash, parent string, at time.Time, merkle [32]byte, err error) {
	if len(raw) < headerLen {
		return "", "", time.Time{}, merkle, fmt.Errorf("%w header: %d bytes", ErrMalformed, len(raw))
	}
	h := header(raw[:headerLen])
	name := h.blockHash()
	if !p.Private && !p.AuxPow {
		if err := params.CheckWork(name, h.bits(), p.PowLimit); err != nil {
			return "", "", time.Time{}, merkle, fmt.Errorf("%w header: %w", ErrMalformed, err)
		}
	}
	return name.String(), h.parentHash(), h.minedAt(), h.merkleRoot(), nil
}

// ParseBlock parses a whole block at a height given by the caller, and lists its watched transfers
// and spends in their order.
//
// It verifies everything that the bytes themselves can prove: the transactions are the ones that
// the header commits to, exactly the first one is a coinbase, the amounts are possible, and, except
// on private networks, the header's work was done. The work is a double SHA-256, or scrypt on a
// chain with merged mining, which takes half a millisecond for a block. Whether the difficulty is
// right follows from other blocks; see params.Retarget.CheckTarget.
//
// A block with a transaction of 64 bytes, which could pass for a node of the merkle tree, is not
// refused: consensus allows it. An attacker who sends tree nodes as transactions needs one that
// looks like a coinbase first, which takes some 2^220 hashes.
func ParseBlock(raw []byte, p params.Params, height int64, watch chain.Watch) (chain.Block, error) {
	return parseBlock(raw, p, height, watch, true)
}

// parseBlock is ParseBlock; without verify it trusts the header.
func parseBlock(raw []byte, p params.Params, height int64, watch chain.Watch, verify bool) (chain.Block, error) {
	h, name, w, err := openBlock(raw, p, verify)
	if err != nil {
		return chain.Block{}, err
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
		Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: name.String()}, Parent: h.parentHash(),
			Time: h.minedAt()},
		Transfers: f.transfers, Spends: f.spends,
	}, nil
}

// openBlock returns a block's header and hash, and a decoder that stands before the transactions. With verify it
// verifies the work.
func openBlock(raw []byte, p params.Params, verify bool) (h header, name digest, w *decoder, err error) {
	if len(raw) < headerLen || len(raw) > maxRaw {
		return nil, name, nil, fmt.Errorf("%w block: %d bytes", ErrMalformed, len(raw))
	}
	h, w = header(raw[:headerLen]), newDecoder(raw, headerLen)
	name = h.blockHash()
	if err = w.readProof(h, name, p, verify); err != nil {
		err = fmt.Errorf("%w block %s: %w", ErrMalformed, name, err)
	}
	return h, name, w, err
}

// readTransactions reads all transactions of a block to its end, and returns the root over them.
func (w *decoder) readTransactions(f *matcher, verify bool) (root digest, err error) {
	var tree merkleTree
	count, most := w.ReadCount(minTx), uint64(f.params.MaxAmount())
	for i := range count {
		s := w.readTx(f.watch, most)
		if s.coinbase != (i == 0) {
			w.SetFault("not exactly the first transaction makes new coins")
		}
		if w.Fault != "" {
			return root, fmt.Errorf("transaction %d: %s", i, w.Fault)
		}
		if !verify && !s.mayBeWatched {
			continue
		}
		id := w.txID(s)
		if verify {
			tree.addLeaf(id)
		}
		if s.mayBeWatched {
			if err := f.matchTx(w.Raw, s, id); err != nil {
				return root, fmt.Errorf("transaction %d: %w", i, err)
			}
		}
	}
	switch {
	case w.Fault != "":
		return root, errors.New(w.Fault)
	case count == 0:
		return root, errors.New("it has no transactions")
	case w.Offset != len(w.Raw):
		return root, fmt.Errorf("%d bytes follow its transactions", len(w.Raw)-w.Offset)
	case !verify:
		return root, nil
	}
	if root = tree.computeRoot(); tree.repeated {
		return root, errors.New("its merkle tree holds a part twice")
	}
	return root, nil
}

// ParseTx parses one unconfirmed transaction. It refuses a coinbase, which exists in blocks only.
func ParseTx(raw []byte, p params.Params, watch chain.Watch) (Tx, error) {
	if len(raw) > maxRaw {
		return Tx{}, fmt.Errorf("%w transaction: %d bytes", ErrMalformed, len(raw))
	}
	w := newDecoder(raw, 0)
	s := w.readTx(watch, uint64(p.MaxAmount()))
	switch {
	case w.Fault != "":
		return Tx{}, fmt.Errorf("%w transaction: %s", ErrMalformed, w.Fault)
	case w.Offset != len(raw):
		return Tx{}, fmt.Errorf("%w transaction: %d bytes follow it", ErrMalformed, len(raw)-w.Offset)
	case s.coinbase:
		return Tx{}, fmt.Errorf("%w transaction: a coinbase outside of a block", ErrMalformed)
	}
	id := w.txID(s)
	tx := Tx{ID: id.String(), Inputs: inputKeys(raw, s)}
	if !s.mayBeWatched {
		return tx, nil
	}
	f := matcher{params: p, watch: watch, inputKeys: tx.Inputs}
	_ = f.matchTx(raw, s, id) // it fails only for a transaction that the matcher has seen
	tx.Transfers, tx.Spends = f.transfers, f.spends
	return tx, nil
}

// findTx returns the bytes of a block's transaction. It trusts the header, as the bytes are compared with
// the transaction's id.
func findTx(raw []byte, p params.Params, id string) ([]byte, error) {
	_, _, w, err := openBlock(raw, p, false)
	if err != nil {
		return nil, err
	}
	for range w.ReadCount(minTx) {
		s := w.readTx(emptyWatch{}, uint64(p.MaxAmount()))
		if w.Fault != "" {
			return nil, fmt.Errorf("%w block: %s", ErrMalformed, w.Fault)
		}
		if w.txID(s).String() == id {
			return raw[s.start:s.end], nil
		}
	}
	return nil, fmt.Errorf("%w block: it has no transaction %s", ErrMalformed, id)
}

// checkTxID checks that bytes are the transaction with an id.
func checkTxID(raw []byte, p params.Params, id string) error {
	w := newDecoder(raw, 0)
	s := w.readTx(emptyWatch{}, uint64(p.MaxAmount()))
	if s.end != len(raw) || w.txID(s).String() != id {
		return fmt.Errorf("%w transaction: it isn't %s", ErrMalformed, id)
	}
	return nil
}
