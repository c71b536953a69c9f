package chain

import "sync/atomic"

// formKinds tells raw forms apart by their length: the usual scripts and an
// outpoint have different ones, and of most kinds a process watches few or none.
const formKinds = 8

// forms are the hashes of the raw forms of one kind. Its WatchSet's lock guards
// all but marked, which is read without.
type forms struct {
	hashes map[uint64]struct{}
	marked atomic.Pointer[filter] // at least all of hashes
	marks  int                    // in marked, those of removed hashes too
}

// add keeps the filter sparse: a full one is made anew from what is still
// watched, with room for as much again.
func (f *forms) add(hash uint64) {
	if f.hashes == nil {
		f.hashes = map[uint64]struct{}{}
	}
	f.hashes[hash] = struct{}{}
	marked := f.marked.Load()
	if f.marks++; marked != nil && f.marks <= marked.room() {
		marked.add(hash)
		return
	}
	marked = newFilter(2 * len(f.hashes))
	for hash := range f.hashes {
		marked.add(hash)
	}
	f.marks = len(f.hashes)
	f.marked.Store(marked)
}

// filter tells without a lock which hashes are surely not among those added: a
// Bloom filter in which each hash concerns one word only, so that a million
// entries stay in a processor's cache, where a map is one wait for memory after
// another. Up to room entries it is wrong in one case of thirty.
type filter struct {
	words []atomic.Uint64
	shift int // leaves the bits that choose a word
}

const (
	filterLeast = 3 // 8 words
	filterRoom  = 8 // entries per word of 64 bits
)

func newFilter(entries int) *filter {
	size := filterLeast
	for filterRoom<<size < entries {
		size++
	}
	return &filter{words: make([]atomic.Uint64, 1<<size), shift: 64 - size}
}

func (f *filter) room() int { return filterRoom * len(f.words) }

// bits are the three of a word that stand for a hash; its other end chooses the word.
func (f *filter) bits(hash uint64) uint64 {
	return 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63)
}

func (f *filter) add(hash uint64) { f.words[hash>>f.shift].Or(f.bits(hash)) }

func (f *filter) has(hash uint64) bool {
	bits := f.bits(hash)
	return f.words[hash>>f.shift].Load()&bits == bits
}
