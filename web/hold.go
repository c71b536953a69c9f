package web

import (
	"errors"
	"sync"

	"cointill/core/memory"
)

// unheld is how much of a request is read without a place in memory: the headers and a body
// as nearly all have it.
const unheld = 2 * headerLimit

// copies is how often a body that is longer than bodyLimit is held at once: its form is taken apart.
const copies = 3

var errNoMemory = errors.New("no memory for a long request")

// hold is the memory that a connection's request takes while it is read and answered.
type hold struct {
	part *memory.Part

	mu      sync.Mutex
	read    int // bytes since the last answer
	taken   int64
	ended   bool
	refused bool
}

// expect takes memory for a read of so many bytes; false where there is none. fasthttp reads
// a long body into a piece that has its whole announced length.
func (h *hold) expect(bytes int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.read + bytes
	need := int64(all-unheld) + (copies-1)*int64(max(all-bodyLimit, 0)) - h.taken
	if need <= 0 {
		return true
	}
	if h.ended || !h.part.Take(need) {
		h.refused = true
		return false
	}
	h.taken += need
	return true
}

// count adds read bytes.
func (h *hold) count(bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read += bytes
}

// answered gives back what a request took, as its answer is being written.
func (h *hold) answered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.part.Give(h.taken)
	h.read, h.taken = 0, 0
}

// end returns the taken memory, and refuses to take more.
func (h *hold) end() {
	h.answered()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// short reports whether a request was refused because there was no memory for it.
func (h *hold) short() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}
