// Package ur encodes data as Uniform Resources, version 2, which wallets exchange by QR codes: a text
// of letters for data that fits into one code, and parts for an animated code of more. It is pure.
// Sources: Blockchain Commons BCR-2020-005 (UR), BCR-2020-006 (types), BCR-2020-012 (bytewords),
// BCR-2024-001 (parts).
package ur

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Types of URs that hold a PSBT: the one that wallets write, and its later name.
const (
	TypePSBT    = "crypto-psbt"
	TypeNewPSBT = "psbt"
)

// Bounds of data in one UR.
const (
	MaxData     = 400_000 // bytes
	MaxParts    = 4_000   // without repetition
	MinFragment = 10      // bytes of the data in each part
)

// ErrInput is returned for data, a type or a size of fragments that can't be encoded.
var ErrInput = errors.New("ur: nothing that can be encoded")

// Encoder makes the parts of one UR.
type Encoder struct {
	kind     string
	message  []byte // the data as a CBOR byte string, padded to whole fragments
	length   int    // without the padding
	checksum uint32
	fragment int // bytes of each fragment
}

// NewEncoder encodes data as a UR of a type, with at most maxFragment bytes of it in each part. A QR code
// of 300 bytes or less is read well from a screen.
func NewEncoder(kind string, data []byte, maxFragment int) (*Encoder, error) {
	if !isType(kind) || len(data) == 0 || len(data) > MaxData || maxFragment < MinFragment {
		return nil, fmt.Errorf("%w: type %q, %d bytes, fragments of %d", ErrInput, kind, len(data), maxFragment)
	}
	message := appendBytes(nil, data)
	count := (len(message) + maxFragment - 1) / maxFragment
	if count > MaxParts {
		return nil, fmt.Errorf("%w: %d parts", ErrInput, count)
	}
	e := &Encoder{kind: kind, length: len(message), checksum: crc32.ChecksumIEEE(message),
		fragment: (len(message) + count - 1) / count}
	// Fragments of equal size may be one fewer than the bound needs.
	count = (len(message) + e.fragment - 1) / e.fragment
	e.message = append(message, make([]byte, count*e.fragment-len(message))...)
	return e, nil
}

// CountFragments returns how many fragments the data has: any so many different parts, or a few more,
// make it whole.
func (e *Encoder) CountFragments() int { return len(e.message) / e.fragment }

// EncodePart returns the part of a number from 1 on, in lower case; each part is the whole UR if there is
// one fragment. A QR code is smaller with the text in upper case. The parts after the first
// CountFragments repeat their content in combinations, so that a reader which missed some need not wait for
// these: an animated code shows all numbers, one after the other.
func (e *Encoder) EncodePart(number uint32) string {
	count := e.CountFragments()
	if count == 1 {
		return "ur:" + e.kind + "/" + encodeWords(e.message)
	}
	number = max(number, 1)
	data := make([]byte, e.fragment)
	for _, i := range chooseFragments(number, count, e.checksum) {
		combine(data, e.message[i*e.fragment:])
	}
	part := appendHead(nil, cborArray, 5)
	for _, n := range []uint32{number, uint32(count), uint32(e.length), e.checksum} {
		part = appendHead(part, cborUint, n)
	}
	return fmt.Sprintf("ur:%s/%d-%d/%s", e.kind, number, count, encodeWords(appendBytes(part, data)))
}

// combine adds bytes to others by XOR, as many as into has.
func combine(into, add []byte) {
	for i := range into {
		into[i] ^= add[i]
	}
}

// isType reports whether a text can be the type of a UR.
func isType(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return text != "" && len(text) <= 64
}
