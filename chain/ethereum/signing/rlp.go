package signing

import (
	"encoding/binary"
	"errors"
	"math/big"
)

// RLP as the Yellow Paper defines it in appendix B. Each value has exactly one encoding; the
// reader rejects all others, because their hash would differ from the transaction's.

var errRLP = errors.New("no canonical RLP")

const (
	stringBase = 0x80 // plus the length of a byte string
	listBase   = 0xc0 // plus the length of a list's items
	// shortLength is the largest length that the first byte holds by itself.
	shortLength = 55
)

func appendHeader(to []byte, base byte, length int) []byte {
	if length <= shortLength {
		return append(to, base+byte(length))
	}
	digits := big.NewInt(int64(length)).Bytes()
	return append(append(to, base+shortLength+byte(len(digits))), digits...)
}

func appendString(to, text []byte) []byte {
	if len(text) == 1 && text[0] < stringBase {
		return append(to, text[0])
	}
	return append(appendHeader(to, stringBase, len(text)), text...)
}

// appendInteger appends a number that is not negative.
func appendInteger(to []byte, n *big.Int) []byte { return appendString(to, n.Bytes()) }

func appendUint(to []byte, n uint64) []byte { return appendInteger(to, new(big.Int).SetUint64(n)) }

// encodeList returns the list of items that are encoded already.
func encodeList(items []byte) []byte {
	return append(appendHeader(nil, listBase, len(items)), items...)
}

// splitItem returns the content of the first item, whether it is a list, and the bytes behind it.
func splitItem(text []byte) (content []byte, list bool, rest []byte, err error) {
	if len(text) == 0 {
		return nil, false, nil, errRLP
	}
	first := text[0]
	if first < stringBase {
		return text[:1], false, text[1:], nil
	}
	base := byte(stringBase)
	if first >= listBase {
		base, list = listBase, true
	}
	length, rest, err := splitLength(first-base, text[1:])
	if err != nil || length > uint64(len(rest)) {
		return nil, false, nil, errRLP
	}
	content, rest = rest[:length], rest[length:]
	if !list && length == 1 && content[0] < stringBase {
		return nil, false, nil, errRLP // such a byte is its own encoding
	}
	return content, list, rest, nil
}

// splitLength reads a length: code itself, or a number in as many bytes as code is above 55, which
// are at most 8.
func splitLength(code byte, text []byte) (length uint64, rest []byte, err error) {
	if code <= shortLength {
		return uint64(code), text, nil
	}
	size := int(code - shortLength)
	if size > len(text) || text[0] == 0 {
		return 0, nil, errRLP
	}
	var digits [8]byte
	copy(digits[8-size:], text[:size])
	length = binary.BigEndian.Uint64(digits[:])
	if length <= shortLength {
		return 0, nil, errRLP
	}
	return length, text[size:], nil
}

// listReader reads the items of a list in order. An error stays; values read after it are of no
// use.
type listReader struct {
	rest []byte
	err  error
}

func (r *listReader) readItem(list bool) []byte {
	content, isList, rest, err := splitItem(r.rest)
	if err != nil || isList != list {
		r.err = errRLP
		return nil
	}
	r.rest = rest
	return content
}

func (r *listReader) readString() []byte { return r.readItem(false) }

// readInteger reads a number of at most size bytes without leading zeros.
func (r *listReader) readInteger(size int) *big.Int {
	digits := r.readString()
	if len(digits) > size || len(digits) > 0 && digits[0] == 0 {
		r.err = errRLP
		digits = nil
	}
	return new(big.Int).SetBytes(digits)
}

// atEnd reports whether all items were read without an error.
func (r *listReader) atEnd() bool { return r.err == nil && len(r.rest) == 0 }

func (r *listReader) readUint() uint64 { return r.readInteger(8).Uint64() }
