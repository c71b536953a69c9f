package ur

import (
	"encoding/binary"
	"fmt"
)

// Major types of CBOR (RFC 8949) that URs use.
const (
	cborUint  = 0
	cborBytes = 2
	cborArray = 4
)

var errCBOR = fmt.Errorf("%w: other CBOR than expected", ErrPart)

// appendHead writes the head of an item: its major type, and its value or length in the shortest form.
func appendHead(out []byte, major byte, n uint32) []byte {
	switch major <<= 5; {
	case n < 24:
		return append(out, major|byte(n))
	case n < 1<<8:
		return append(out, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(out, major|25), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(out, major|26), n)
	}
}

// appendBytes writes a byte string.
func appendBytes(out, data []byte) []byte {
	return append(appendHead(out, cborBytes, uint32(len(data))), data...)
}

// readHead reads the head of an item of a major type.
func readHead(in []byte, major byte) (n uint32, rest []byte, err error) {
	if len(in) == 0 || in[0]>>5 != major {
		return 0, nil, errCBOR
	}
	short, rest := in[0]&31, in[1:]
	switch {
	case short < 24:
		return uint32(short), rest, nil
	case short == 24 && len(rest) >= 1:
		return uint32(rest[0]), rest[1:], nil
	case short == 25 && len(rest) >= 2:
		return uint32(binary.BigEndian.Uint16(rest)), rest[2:], nil
	case short == 26 && len(rest) >= 4:
		return binary.BigEndian.Uint32(rest), rest[4:], nil
	}
	return 0, nil, errCBOR
}

// readWholeBytes reads a byte string with nothing behind it.
func readWholeBytes(in []byte) ([]byte, error) {
	n, rest, err := readHead(in, cborBytes)
	if err != nil || uint64(n) != uint64(len(rest)) {
		return nil, errCBOR
	}
	return rest, nil
}
