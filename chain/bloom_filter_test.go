package chain

import (
	"encoding/binary"
	"hash/maphash"
	"testing"
)

func numberedHash(i int) uint64 {
	return maphash.Bytes(seed, binary.LittleEndian.AppendUint64(nil, uint64(i)))
}

// TestFilterKeepsItsErrorRate: the filter never denies an entry, and its error rate stays low up to
// maxEntries.
func TestFilterKeepsItsErrorRate(t *testing.T) {
	t.Parallel()
	for _, entries := range []int{1, 64, 65, 100_000} {
		f := newBloomFilter(entries)
		if f.maxEntries() < entries {
			t.Fatalf("room for %d of %d", f.maxEntries(), entries)
		}
		for i := range f.maxEntries() {
			f.addHash(numberedHash(i))
		}
		wrong := 0
		for i := range f.maxEntries() {
			if !f.mayContain(numberedHash(i)) {
				t.Fatalf("of %d entries number %d is denied", f.maxEntries(), i)
			}
			if f.mayContain(numberedHash(f.maxEntries() + i)) {
				wrong++
			}
		}
		if entries > 1000 && wrong*25 > f.maxEntries() {
			t.Errorf("wrong about %d of %d", wrong, f.maxEntries())
		}
	}
}

// TestFilterStaysSmallUnderChurn: with far more additions and removals than entries at once, the
// filter forgets removed hashes and doesn't grow.
func TestFilterStaysSmallUnderChurn(t *testing.T) {
	t.Parallel()
	var f rawForms
	const together = 100
	for i := range 100_000 {
		f.addHash(numberedHash(i))
		if i >= together {
			delete(f.hashes, numberedHash(i-together))
		}
		for j := max(0, i-together+1); j <= i; j += 33 {
			if !f.filter.Load().mayContain(numberedHash(j)) {
				t.Fatalf("after %d additions number %d is denied", i, j)
			}
		}
	}
	if room := f.filter.Load().maxEntries(); room > 8*together {
		t.Errorf("room for %d where %d are at once", room, together)
	}
}
