package mutationtest

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// finders counts the mutants that each test found, by their name, their function and the condition that
// they change. A test that found a mutant is likely to find it again, and others of its function; one
// that lets statements fail finds most conditions on errors.
type finders struct {
	lock  sync.Mutex
	count map[[2]string]int // by name, function or condition, and test
}

// likelyTests is how many tests are asked before all others.
const likelyTests = 3

// sameMutant is how much a test counts that found the same mutant before.
const sameMutant = 1000

// addFinder counts a test that found a mutant.
func (f *finders) addFinder(m mutant, test string) {
	test, _, _ = strings.Cut(test, "/")
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, key := range m.listKeys() {
		f.count[[2]string{key, test}]++
	}
}

// listLikely returns the tests that found most mutants like this one, of tests that reach it.
func (f *finders) listLikely(m mutant, reaching []traced) []traced {
	f.lock.Lock()
	defer f.lock.Unlock()
	found := map[string]int{}
	var likely []traced
	for _, t := range reaching {
		for i, key := range m.listKeys() {
			if n := f.count[[2]string{key, t.Name}]; i == 0 {
				found[t.Name] += n * sameMutant
			} else {
				found[t.Name] += n
			}
		}
		if found[t.Name] > 0 {
			likely = append(likely, t)
		}
	}
	slices.SortStableFunc(likely, func(a, b traced) int {
		return cmp.Or(cmp.Compare(found[b.Name], found[a.Name]), cmp.Compare(a.Took, b.Took))
	})
	return likely[:min(len(likely), likelyTests)]
}

// listKeys returns the mutant's name, its function and its condition.
func (m mutant) listKeys() []string {
	function, _, _ := strings.Cut(m.name, ": ")
	_, condition, _ := strings.Cut(m.note, "`")
	return []string{m.name, function, condition}
}
