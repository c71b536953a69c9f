// Package bytereader reads the bytes of blocks and transactions of the Bitcoin family.
package bytereader

import (
	"encoding/binary"
	"errors"
)

// Reader reads bytes in place and copies nothing. It keeps the first fault and stands at the end from
// then on: later reads return zeros and nils, and the caller checks Fault when it has finished.
type Reader struct {
	Raw    []byte
	Offset int // of the next read
	Fault  string
}

// SetFault keeps the first fault.
func (r *Reader) SetFault(fault string) {
	if r.Fault == "" {
		r.Fault = fault
	}
	r.Offset = len(r.Raw)
}

// Err returns the fault as an error; nil for none.
func (r *Reader) Err() error {
	if r.Fault == "" {
		return nil
	}
	return errors.New(r.Fault)
}

// CountLeft returns how many bytes are left.
func (r *Reader) CountLeft() int { return len(r.Raw) - r.Offset }

// ReadBytes returns the next n bytes, or nil if fewer are left.
func (r *Reader) ReadBytes(n uint64) []byte {
	if n > uint64(r.CountLeft()) {
		r.SetFault("it ends too early")
		return nil
	}
	from := r.Offset
	r.Offset += int(n)
	return r.Raw[from:r.Offset:r.Offset]
}

// ReadUint32 reads four bytes.
func (r *Reader) ReadUint32() uint32 {
	if b := r.ReadBytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// ReadVarint reads a length. A length that isn't written in its shortest form is refused, as nodes
// do, because the same transaction would have two ids.
func (r *Reader) ReadVarint() uint64 {
	if r.Offset < len(r.Raw) && r.Raw[r.Offset] < 0xfd {
		r.Offset++
		return uint64(r.Raw[r.Offset-1])
	}
	return r.readLongVarint()
}

func (r *Reader) readLongVarint() uint64 {
	first := r.ReadBytes(1)
	if first == nil {
		return 0
	}
	var n, least uint64
	switch first[0] {
	case 0xfd:
		if b := r.ReadBytes(2); b != nil {
			n, least = uint64(binary.LittleEndian.Uint16(b)), 0xfd
		}
	case 0xfe:
		if b := r.ReadBytes(4); b != nil {
			n, least = uint64(binary.LittleEndian.Uint32(b)), 1<<16
		}
	default:
		if b := r.ReadBytes(8); b != nil {
			n, least = binary.LittleEndian.Uint64(b), 1<<32
		}
	}
	if n < least {
		r.SetFault("a length is not written in its shortest form")
		return 0
	}
	return n
}

// ReadCount reads the number of parts that follow, of at least size bytes each, and refuses more
// than fit, so that the read bytes bound the memory for them.
func (r *Reader) ReadCount(size int) uint64 {
	n := r.ReadVarint()
	if n > uint64(r.CountLeft()/size) {
		r.SetFault("it counts more parts than it has bytes for")
		return 0
	}
	return n
}
