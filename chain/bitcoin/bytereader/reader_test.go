package bytereader

import "testing"

// TestLengthsAreWrittenShortest: a length is read only in its shortest form, and not beyond the end of the bytes.
func TestLengthsAreWrittenShortest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		want uint64
		ok   bool
	}{
		{"\x00", 0, true}, {"\xfc", 0xfc, true}, {"", 0, false},
		{"\xfd\xfd\x00", 0xfd, true}, {"\xfd\xff\xff", 0xffff, true},
		{"\xfd\xfc\x00", 0, false}, {"\xfd\xfd", 0, false},
		{"\xfe\x00\x00\x01\x00", 1 << 16, true}, {"\xfe\xff\xff\x00\x00", 0, false}, {"\xfe\x00\x00\x01", 0, false},
		{"\xff\x00\x00\x00\x00\x01\x00\x00\x00", 1 << 32, true},
		{"\xff\xff\xff\xff\xff\x00\x00\x00\x00", 0, false}, {"\xff\x00\x00\x00\x00\x01\x00\x00", 0, false},
	} {
		r := Reader{Raw: []byte(c.raw)}
		if got := r.ReadVarint(); got != c.want || (r.Err() == nil) != c.ok || r.CountLeft() > 0 {
			t.Errorf("ReadVarint(%x) = %d, %v with %d left, want %d, %t", c.raw, got, r.Err(), r.CountLeft(), c.want, c.ok)
		}
	}
}

// TestReaderKeepsItsFirstFault: what fails later doesn't hide it.
func TestReaderKeepsItsFirstFault(t *testing.T) {
	t.Parallel()
	r := Reader{Raw: []byte{1, 2}}
	r.SetFault("first")
	if r.ReadBytes(1); r.Fault != "first" || r.Err() == nil {
		t.Errorf("the fault is %q, want the first; error %v", r.Fault, r.Err())
	}
}

// TestCountsAreBounded: more parts than the bytes can hold are refused.
func TestCountsAreBounded(t *testing.T) {
	t.Parallel()
	for count, want := range map[byte]uint64{0: 0, 2: 2, 3: 0} {
		r := Reader{Raw: append([]byte{count}, make([]byte, 8)...)}
		if got := r.ReadCount(4); got != want || (r.Err() == nil) != (count < 3) {
			t.Errorf("ReadCount of %d parts of 4 bytes in 8 = %d, %v, want %d", count, got, r.Err(), want)
		}
	}
}
