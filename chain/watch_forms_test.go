package chain

import (
	"encoding/binary"
	"hash/maphash"
	"testing"
)

func numberedHash(i int) uint64 {
	return maphash.Bytes(seed, binary.LittleEndian.AppendUint64(nil, uint64(i)))
}

// TestFilter holds the filter to what its room promises, and to never denying what it has.
func TestFilter(t *testing.T) {
	t.Parallel()
	for _, entries := range []int{1, 64, 65, 100_000} {
		f := newFilter(entries)
		if f.room() < entries {
			t.Fatalf("room for %d of %d", f.room(), entries)
		}
		for i := range f.room() {
			f.add(numberedHash(i))
		}
		wrong := 0
		for i := range f.room() {
			if !f.has(numberedHash(i)) {
				t.Fatalf("of %d entries number %d is denied", f.room(), i)
			}
			if f.has(numberedHash(f.room() + i)) {
				wrong++
			}
		}
		if entries > 1000 && wrong*25 > f.room() {
			t.Errorf("wrong about %d of %d", wrong, f.room())
		}
	}
}

// TestFormsChurn adds and removes far more than are ever there at once: the
// filter forgets what is gone, and grows no further.
func TestFormsChurn(t *testing.T) {
	t.Parallel()
	var f forms
	const together = 100
	for i := range 100_000 {
		f.add(numberedHash(i))
		if i >= together {
			delete(f.hashes, numberedHash(i-together))
		}
		for j := max(0, i-together+1); j <= i; j += 33 {
			if !f.marked.Load().has(numberedHash(j)) {
				t.Fatalf("after %d additions number %d is denied", i, j)
			}
		}
	}
	if room := f.marked.Load().room(); room > 8*together {
		t.Errorf("room for %d where %d are at once", room, together)
	}
}
