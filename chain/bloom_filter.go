package chain

import "sync/atomic"

// formKinds groups raw forms by their length. The usual scripts and an outpoint differ in length,
// and a process watches few or none of most kinds.
const formKinds = 8

// rawForms holds the hashes of the raw forms of one kind. The lock of its WatchSet guards all but
// filter, which is read without it.
type rawForms struct {
	hashes        map[uint64]struct{}
	filter        atomic.Pointer[bloomFilter] // contains at least all hashes
	filterEntries int                         // entries of filter, with those for removed hashes
}

// addHash keeps the filter sparse: a full one is replaced by a new one with the hashes that are
// still watched and room for as many again.
func (f *rawForms) addHash(hash uint64) {
	if f.hashes == nil {
		f.hashes = map[uint64]struct{}{}
	}
	f.hashes[hash] = struct{}{}
	current := f.filter.Load()
	if f.filterEntries++; current != nil && f.filterEntries <= current.maxEntries() {
		current.addHash(hash)
		return
	}
	current = newBloomFilter(2 * len(f.hashes))
	for hash := range f.hashes {
		current.addHash(hash)
	}
	f.filterEntries = len(f.hashes)
	f.filter.Store(current)
}

// bloomFilter reports without a lock which hashes were surely not added. It is a Bloom filter in
// which each hash sets bits of one word only, so that a million entries stay in a processor's
// cache, where a map waits for memory again and again. Up to maxEntries it is wrong in one case of
// thirty.
type bloomFilter struct {
	words []atomic.Uint64
	shift int // leaves the bits that choose a word
}

const (
	minWordBits    = 3 // 8 words
	entriesPerWord = 8 // in a word of 64 bits
)

func newBloomFilter(entries int) *bloomFilter {
	size := minWordBits
	for entriesPerWord<<size < entries {
		size++
	}
	return &bloomFilter{words: make([]atomic.Uint64, 1<<size), shift: 64 - size}
}

func (f *bloomFilter) maxEntries() int { return entriesPerWord * len(f.words) }

// wordMask returns the three bits of a word that stand for a hash. Other bits of the hash choose
// the word.
func (f *bloomFilter) wordMask(hash uint64) uint64 {
	return 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63)
}

func (f *bloomFilter) addHash(hash uint64) { f.words[hash>>f.shift].Or(f.wordMask(hash)) }

func (f *bloomFilter) mayContain(hash uint64) bool {
	bits := f.wordMask(hash)
	return f.words[hash>>f.shift].Load()&bits == bits
}
