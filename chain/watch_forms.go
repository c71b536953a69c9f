package chain

import "sync/atomic"

// formKinds tells raw forms apart by their length: the usual scripts and an
// outpoint have different ones, and of most kinds a process watches few or none.
const formKinds = 8

// rawForms are the hashes of the raw forms of one kind. Its WatchSet's lock guards
// all but marked, which is read without.
type rawForms struct {
	hashes        map[uint64]struct{}
	filter        atomic.Pointer[bloomFilter] // at least all of hashes
	filterEntries int                         // in marked, those of removed hashes too
}

// addHash keeps the filter sparse: a full one is made anew from what is still
// watched, with room for as much again.
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

// bloomFilter tells without a lock which hashes are surely not among those added: a
// Bloom filter in which each hash concerns one word only, so that a million
// entries stay in a processor's cache, where a map is one wait for memory after
// another. Up to room entries it is wrong in one case of thirty.
type bloomFilter struct {
	words []atomic.Uint64
	shift int // leaves the bits that choose a word
}

const (
	minWordBits    = 3 // 8 words
	entriesPerWord = 8 // entries per word of 64 bits
)

func newBloomFilter(entries int) *bloomFilter {
	size := minWordBits
	for entriesPerWord<<size < entries {
		size++
	}
	return &bloomFilter{words: make([]atomic.Uint64, 1<<size), shift: 64 - size}
}

func (f *bloomFilter) maxEntries() int { return entriesPerWord * len(f.words) }

// wordMask are the three of a word that stand for a hash; its other end chooses the word.
func (f *bloomFilter) wordMask(hash uint64) uint64 {
	return 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63)
}

func (f *bloomFilter) addHash(hash uint64) { f.words[hash>>f.shift].Or(f.wordMask(hash)) }

func (f *bloomFilter) mayContain(hash uint64) bool {
	bits := f.wordMask(hash)
	return f.words[hash>>f.shift].Load()&bits == bits
}
