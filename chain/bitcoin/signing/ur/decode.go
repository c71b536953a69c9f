package ur

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"
)

// ErrPart is wrapped by the errors about a text that is no UR, or no part of one.
var ErrPart = errors.New("ur: not a part")

// ErrOther is returned for a part of another UR than the parts before.
var ErrOther = errors.New("ur: a part of another UR")

// ErrChecksum is returned when all parts are there and their data is wrong. The decoder is empty then.
var ErrChecksum = errors.New("ur: the parts make wrong data")

// Decoder puts the parts of one UR together, in any order, with any missing or repeated. The zero value is
// ready. Its memory is bounded by MaxData and MaxParts.
type Decoder struct {
	kind string
	header
	// rows are independent sums of fragments. The one at place i has fragment i as its first.
	rows  []row
	count int // of the rows that are there
	data  []byte
}

// header holds the numbers that all parts of a UR share.
type header struct {
	count, length int
	checksum      uint32
	fragment      int // bytes
}

// row is a sum of fragments by XOR.
type row struct {
	fragments []uint64 // a bit for each
	data      []byte
}

// CountParts returns how many independent parts are there, and of how many; 0 of 0 before the first.
func (d *Decoder) CountParts() (have, want int) {
	if d.data != nil {
		return max(1, d.header.count), max(1, d.header.count)
	}
	return d.count, d.header.count
}

// Data returns type and data of the UR when enough parts are there.
func (d *Decoder) Data() (kind string, data []byte, ok bool) { return d.kind, d.data, d.data != nil }

// AddPart adds a part, or a UR of one, in lower or upper case. A part that adds nothing is no error.
func (d *Decoder) AddPart(text string) error {
	kind, number, count, words, err := splitPart(text)
	if err != nil {
		return err
	}
	switch {
	case d.kind != "" && d.kind != kind:
		return ErrOther
	case d.data != nil:
		return nil
	}
	raw, err := decodeWords(words)
	if err != nil {
		return err
	}
	if count == 0 {
		data, err := readWholeBytes(raw)
		if len(data) == 0 || len(data) > MaxData {
			return errors.Join(errCBOR, err)
		}
		*d = Decoder{kind: kind, data: data}
		return nil
	}
	f, data, err := readPart(raw, number, count)
	if err != nil {
		return err
	}
	if d.kind == "" {
		*d = Decoder{kind: kind, header: f, rows: make([]row, f.count)}
	}
	if f != d.header {
		return ErrOther
	}
	d.addRow(chooseFragments(number, f.count, f.checksum), data)
	if d.count < len(d.rows) {
		return nil
	}
	return d.finish()
}

// splitPart splits "ur:type/number-count/words" or "ur:type/words", where count is 0.
func splitPart(text string) (kind string, number, count uint32, words string, err error) {
	if len(text) > 4*MaxData {
		return "", 0, 0, "", fmt.Errorf("%w: %d characters", ErrPart, len(text))
	}
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "ur:")
	pieces := strings.Split(rest, "/")
	if !ok || len(pieces) < 2 || len(pieces) > 3 || !isType(pieces[0]) {
		return "", 0, 0, "", fmt.Errorf("%w: no UR", ErrPart)
	}
	if len(pieces) == 3 {
		_, _ = fmt.Sscanf(pieces[1], "%d-%d", &number, &count)
		if fmt.Sprintf("%d-%d", number, count) != pieces[1] || number == 0 || count == 0 {
			return "", 0, 0, "", fmt.Errorf("%w: number %.20q", ErrPart, pieces[1])
		}
	}
	return pieces[0], number, count, pieces[len(pieces)-1], nil
}

// readPart reads a part's CBOR, which repeats number and count.
func readPart(raw []byte, number, count uint32) (f header, data []byte, err error) {
	// What can't be read is empty, which no item of a part is.
	items, rest, _ := readHead(raw, cborArray)
	var numbers [4]uint32
	for i := range numbers {
		numbers[i], rest, _ = readHead(rest, cborUint)
	}
	data, _ = readWholeBytes(rest)
	if items != 5 || numbers[0] != number || numbers[1] != count {
		return header{}, nil, errCBOR
	}
	length := uint64(numbers[2])
	if count > MaxParts || length > MaxData+5 || length > uint64(count)*uint64(len(data)) ||
		length <= uint64(count-1)*uint64(len(data)) {
		return header{}, nil, fmt.Errorf("%w: %d fragments of %d bytes for %d", ErrPart, count, len(data), length)
	}
	return header{int(count), int(length), numbers[3], len(data)}, data, nil
}

// addRow adds a sum of fragments to the independent ones (Gaussian elimination).
func (d *Decoder) addRow(fragments []int, data []byte) {
	r := row{make([]uint64, (d.header.count+63)/64), data}
	for _, i := range fragments {
		r.fragments[i/64] |= 1 << (i % 64)
	}
	for {
		i := r.firstFragment()
		switch {
		case i < 0: // it adds nothing
			return
		case d.rows[i].data == nil:
			d.rows[i] = r
			d.count++
			return
		}
		r.add(d.rows[i])
	}
}

// firstFragment returns the lowest fragment of a sum; -1 if there is none.
func (r row) firstFragment() int {
	for i, word := range r.fragments {
		if word != 0 {
			return 64*i + bits.TrailingZeros64(word)
		}
	}
	return -1
}

func (r row) add(other row) {
	for i := range r.fragments {
		r.fragments[i] ^= other.fragments[i]
	}
	combine(r.data, other.data)
}

// finish solves the sums from the last to the first, and checks the message that they make.
func (d *Decoder) finish() error {
	message := make([]byte, 0, d.header.count*d.header.fragment)
	for i := len(d.rows) - 1; i >= 0; i-- {
		for j := i + 1; j < len(d.rows); j++ {
			if d.rows[i].fragments[j/64]>>(j%64)&1 == 1 {
				d.rows[i].add(d.rows[j])
			}
		}
	}
	for _, r := range d.rows {
		message = append(message, r.data...)
	}
	message = message[:d.header.length]
	data, err := readWholeBytes(message)
	if err != nil || len(data) == 0 || crc32.ChecksumIEEE(message) != d.header.checksum {
		*d = Decoder{}
		return ErrChecksum
	}
	d.data, d.rows = data, nil
	return nil
}
