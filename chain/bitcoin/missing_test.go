package bitcoin

import (
	"net/http"
	"sync/atomic"
	"testing"

	"cointill/core/money"
)

// TestOneAnswerMissing: one answer of a node that is well goes missing, whichever it is.
// It is asked again, and nobody hears of it; but not a node that asks to be left alone.
func TestOneAnswerMissing(t *testing.T) {
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
			blocks.mine(3)
			n := newFakeNode(t, blocks, "core")
			b := newFixture(t, blocks, openURLs(t, blocks, n.URL))
			b.step()
			for at := int64(1); at <= 9; at++ { // as many as a step asks that finds a block and a transaction
				mined := b.pay()
				blocks.mine(1)
				pending := b.pay()
				var count atomic.Int64
				n.set(func(n *fakeNode) {
					n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
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
				n.set(func(n *fakeNode) { n.hijack = nil })
				b.step()
				if b.ledger.Confirmations(mined) != 1 || len(b.ledger.Transfers()[pending]) != 1 {
					t.Errorf("question %d: %+v", at, b.ledger.Transfers())
				}
			}
		})
	}
}
