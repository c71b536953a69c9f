package chain

import (
	"crypto/sha256"
	"hash/maphash"
	"sync"
)

// WatchSet is the Watch that a process keeps in memory. It holds 16 bytes of SHA-256 for each
// entry, and 8 more of its raw form if there is a Codec, so that a million addresses take some 70
// MB. It is safe for concurrent use. The zero WatchSet is empty and ready.
//
// It keeps no counts: one RemoveSpends removes a spend key that two transfers share, so the caller
// removes a key when no transfer needs it any more.
type WatchSet struct {
	// Codec encodes the raw forms; with nil, Raw returns true for everything. It is set before the
	// first addition.
	Codec Codec
	// Shared holds further addresses, which the sets of several networks have in common. Nil for none. It is set
	// before the set is used, and has the same Codec.
	Shared *WatchSet

	mu        sync.RWMutex
	addresses map[digest]struct{}
	spends    map[digest]struct{}
	raw       [formKinds]rawForms
}

// Codec encodes watched addresses and spend keys as the network's blocks hold them. Nil means that
// no block of the network can hold the text.
type Codec interface {
	Address(address string) []byte
	Spend(key string) []byte
}

// seed makes the hashes of raw forms differ from process to process, so that an attacker can't make
// outputs that look watched.
var seed = maphash.MakeSeed()

var _ Watch = (*WatchSet)(nil)

// digest stands for an address or a spend key. To collide with the digest of another person's text
// takes a second preimage.
type digest [16]byte

func hashText(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// Address implements Watch.
func (w *WatchSet) Address(address string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, ok := w.addresses[hashText(address)]
	return ok || w.Shared != nil && w.Shared.Address(address)
}

// Spend implements Watch.
func (w *WatchSet) Spend(key string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, ok := w.spends[hashText(key)]
	return ok
}

// HasSpends reports whether any spend key is watched.
func (w *WatchSet) HasSpends() bool {
	_, spends := w.Len()
	return spends > 0
}

// Raw implements Watch. The answer is nearly always no, and then it takes no lock and reads one
// word.
func (w *WatchSet) Raw(form []byte) bool {
	return w.Codec == nil || w.hasRaw(form) || w.Shared != nil && w.Shared.hasRaw(form)
}

func (w *WatchSet) hasRaw(form []byte) bool {
	kind, hash := w.hashRaw(form)
	if filter := kind.filter.Load(); filter == nil || !filter.mayContain(hash) {
		return false
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, ok := kind.hashes[hash]
	return ok
}

// hashRaw returns the hash of a raw form, and the forms of its kind.
func (w *WatchSet) hashRaw(raw []byte) (*rawForms, uint64) {
	return &w.raw[len(raw)%formKinds], maphash.Bytes(seed, raw)
}

// AddAddresses watches addresses from now on.
func (w *WatchSet) AddAddresses(addresses ...string) {
	w.addTexts(&w.addresses, addresses, Codec.Address)
}

// RemoveAddresses stops watching addresses.
func (w *WatchSet) RemoveAddresses(addresses ...string) {
	w.removeTexts(&w.addresses, addresses, Codec.Address)
}

// AddSpends watches spend keys from now on.
func (w *WatchSet) AddSpends(keys ...string) { w.addTexts(&w.spends, keys, Codec.Spend) }

// RemoveSpends stops watching spend keys.
func (w *WatchSet) RemoveSpends(keys ...string) { w.removeTexts(&w.spends, keys, Codec.Spend) }

// Len returns the number of watched addresses and spend keys.
func (w *WatchSet) Len() (addresses, spends int) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.addresses), len(w.spends)
}

func (w *WatchSet) addTexts(set *map[digest]struct{}, texts []string, form func(Codec, string) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *set == nil {
		*set = make(map[digest]struct{}, len(texts))
	}
	for _, text := range texts {
		(*set)[hashText(text)] = struct{}{}
		if w.Codec == nil {
			continue
		}
		if raw := form(w.Codec, text); raw != nil {
			kind, hash := w.hashRaw(raw)
			kind.addHash(hash)
		}
	}
}

func (w *WatchSet) removeTexts(set *map[digest]struct{}, texts []string, form func(Codec, string) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range texts {
		delete(*set, hashText(text))
		if w.Codec == nil {
			continue
		}
		if raw := form(w.Codec, text); raw != nil {
			kind, hash := w.hashRaw(raw)
			delete(kind.hashes, hash)
		}
	}
}
