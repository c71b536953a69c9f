package chain

import (
	"crypto/sha256"
	"sync"
)

// WatchSet is the Watch that a process keeps in memory. It holds 16 bytes of
// SHA-256 for each entry, so that a million addresses take some 30 MB. It is safe
// for concurrent use; the zero WatchSet is empty and ready.
//
// It counts nothing: a spend key that two transfers share is forgotten by one
// RemoveSpends, so the caller removes a key when nothing needs it any more.
type WatchSet struct {
	mu        sync.RWMutex
	addresses map[digest]struct{}
	spends    map[digest]struct{}
}

var _ Watch = (*WatchSet)(nil)

// digest stands for an address or a spend key. Nobody can make two texts with
// equal digests of one of which he isn't the author: that is a second preimage.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// Address implements Watch.
func (w *WatchSet) Address(address string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, ok := w.addresses[digestOf(address)]
	return ok
}

// Spend implements Watch.
func (w *WatchSet) Spend(key string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, ok := w.spends[digestOf(key)]
	return ok
}

// AddAddresses watches addresses from now on.
func (w *WatchSet) AddAddresses(addresses ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addresses = add(w.addresses, addresses)
}

// RemoveAddresses stops watching addresses.
func (w *WatchSet) RemoveAddresses(addresses ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	remove(w.addresses, addresses)
}

// AddSpends watches spend keys from now on.
func (w *WatchSet) AddSpends(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spends = add(w.spends, keys)
}

// RemoveSpends stops watching spend keys.
func (w *WatchSet) RemoveSpends(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	remove(w.spends, keys)
}

// Len is how many addresses and spend keys are watched.
func (w *WatchSet) Len() (addresses, spends int) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.addresses), len(w.spends)
}

func add(set map[digest]struct{}, texts []string) map[digest]struct{} {
	if set == nil {
		set = make(map[digest]struct{}, len(texts))
	}
	for _, text := range texts {
		set[digestOf(text)] = struct{}{}
	}
	return set
}

func remove(set map[digest]struct{}, texts []string) {
	for _, text := range texts {
		delete(set, digestOf(text))
	}
}
