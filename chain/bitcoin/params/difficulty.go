package params

import (
	"errors"
	"math/big"
	"slices"

	"cointill/core/money"
)

// DecodeTarget returns the target that a header's bits stand for: a base-256 floating point number
// of three digits. A greater target is easier. It is nil if the bits stand for none.
func DecodeTarget(compact uint32) *big.Int {
	exponent, mantissa := uint(compact>>24), int64(compact&0x7fffff)
	t := big.NewInt(mantissa)
	if exponent >= 3 {
		t.Lsh(t, 8*(exponent-3))
	} else {
		t.Rsh(t, 8*(3-exponent))
	}
	if compact&0x800000 != 0 || t.Sign() == 0 {
		return nil
	}
	return t
}

// CheckWork verifies a proof of work against the target of a header's bits.
func CheckWork(done [32]byte, compact uint32, limit *big.Int) error {
	t := DecodeTarget(compact)
	if t == nil || t.Cmp(limit) > 0 {
		return errors.New("its difficulty is none of the network's")
	}
	slices.Reverse(done[:])
	if new(big.Int).SetBytes(done[:]).Cmp(t) > 0 {
		return errors.New("its work was not done")
	}
	return nil
}

// CheckTarget verifies that a block's target grew by no more than the rules allow after the
// previous block. Otherwise a dishonest node could put worthless blocks on top of good ones, and to
// a second node they would look like blocks that it hasn't received yet.
func (r Retarget) CheckTarget(height int64, before, compact uint32) error {
	if !r.Limits(height) {
		return nil
	}
	if height%r.Every != 0 && compact != before {
		return errors.New("its difficulty changes where it may not")
	}
	was, is := DecodeTarget(before), DecodeTarget(compact)
	if was == nil || is == nil || is.Mul(is, big.NewInt(r.Over)).Cmp(was.Mul(was, big.NewInt(r.Times))) > 0 {
		return errors.New("its difficulty falls by more than it may")
	}
	return nil
}

// MaxAmount returns the greatest amount, in the smallest unit, that the rules of the coin's chain
// let one transaction move.
func (p Params) MaxAmount() int64 {
	if p.Coin == money.DOGE {
		return 10_000_000_000 * 1e8
	}
	return 21_000_000 * 1e8
}
