package bitcoin

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"cointill/core/money"
)

// TestOneMissingAnswerIsAskedAgain: any single answer of a healthy node goes missing. It is asked
// again, and no problem is recorded, unless the node is overloaded.
func TestOneMissingAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		told   bool
	}{
		{"cut off", cutOff, false},
		{"502", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(502); return true }, false},
		{"503", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blocks := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			blocks.mineBlocks(3)
			n := newFakeNode(t, blocks, "core")
			b := newFixture(t, blocks, openURLs(t, blocks, n.URL))
			b.mustStep()
			for at := int64(1); at <= 9; at++ { // as many questions as a step with a block and a transaction asks
				mined := b.payNewAddress()
				blocks.mineBlocks(1)
				pending := b.payNewAddress()
				var count atomic.Int64
				n.update(func(n *fakeNode) {
					n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
						return count.Add(1) == at && c.answer(w, r)
					}
				})
				_, err := b.follower.Step(b.Context())
				asked := count.Load()
				if told := err != nil && b.ledger.Problem() != ""; at <= asked && told != c.told {
					t.Errorf("question %d of %d: %v, health %q", at, asked, err, b.ledger.Problem())
				}
				if at == 1 && asked == 0 {
					t.Error("nothing was asked")
				}
				n.update(func(n *fakeNode) { n.intercept = nil })
				b.mustStep()
				if b.ledger.Confirmations(mined) != 1 || len(b.ledger.Transfers()[pending]) != 1 {
					t.Errorf("question %d: %+v", at, b.ledger.Transfers())
				}
			}
		})
	}
}

// TestMissingAnswerIsAskedFromTheSameNode: the node in use misses an answer while the other one
// lacks a counted block. The same node is asked again; after a second missing answer the other one
// is asked.
func TestMissingAnswerIsAskedFromTheSameNode(t *testing.T) {
	t.Parallel()
	for misses := int64(1); misses <= 2; misses++ {
		b, first, second := newTwoNodeFixture(t)
		b.chain.mineBlocks(1)
		b.mustStep()
		second.update(func(n *fakeNode) { n.hidden = 1 })
		b.payNewAddress()
		var count atomic.Int64
		first.update(func(n *fakeNode) {
			n.intercept = changesStatus("getrawmempool", http.StatusBadGateway,
				func() bool { return count.Add(1) <= misses })
		})
		if _, err := b.follower.Step(t.Context()); count.Load() < misses || (misses == 1) != (err == nil) {
			t.Errorf("%d of %d answers missed: %v", count.Load(), misses, err)
		}
		if misses == 2 {
			b.expectProblem("The node is behind")
		}
		second.update(func(n *fakeNode) { n.hidden = 0 })
		b.mustStep()
		if chosenNode(b) != 2 {
			t.Errorf("node %d is asked", chosenNode(b))
		}
	}
}

// changesStatus answers calls of one method with a status while shall returns true.
func changesStatus(method string, status int, shall func() bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil || !bytes.Contains(body, []byte(method)) || !shall() {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}
