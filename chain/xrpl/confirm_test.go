package xrpl

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/xrpl/ledgertest"
)

// refuseRequests makes a server answer requests that contain a text with an error.
func refuseRequests(holding, code string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		asked, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if !bytes.Contains(asked, []byte(holding)) {
			return false
		}
		_, _ = io.WriteString(w, `{"result":{"error":"`+code+`","status":"error"}}`)
		return true
	}
}

// TestUnconfirmedLedgerIsNotCounted checks that a ledger counts only if the other server confirms
// it, while that server is healthy. A server that does not answer is not treated as down: the
// first server is not trusted because of it, and the status names the server to look at.
func TestUnconfirmedLedgerIsNotCounted(t *testing.T) {
	t.Parallel()
	const whole = `"transactions":true`
	for name, c := range map[string]struct {
		spoil  func(b *ledgertest.Server, at int64)
		reason string
	}{
		"overloaded": {func(b *ledgertest.Server, _ int64) {
			b.Hijack(refuseRequests(whole, "slowDown"))
		}, "Server 2 of 2 is overloaded"},
		"not found": {func(b *ledgertest.Server, at int64) { b.Hijack(refuseRequests(whole, "lgrNotFound")) },
			"Server 2 of 2 doesn't have ledger"},
		"odd": {func(b *ledgertest.Server, _ int64) {
			b.Hijack(refuseRequests(whole, "internal"))
		}, "Server 2 of 2 doesn't show ledger"},
		"a gap": {func(b *ledgertest.Server, at int64) {
			b.SetBehaviour(func(b *ledgertest.Behaviour) { b.From, b.To = at, at })
		}, "Server 2 of 2 doesn't have ledger"},
		"no ledger at all": {func(b *ledgertest.Server, _ int64) {
			b.Hijack(refuseRequests(`"method":"ledger"`, "slowDown"))
		}, "Server 2 of 2 is overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ledgertest.New(testID, nil)
			p := &pair{Ledger: l, a: ledgertest.NewServer(l, 2), b: ledgertest.NewServer(l, 2)}
			p.source = openURLs(t, l, "http://"+p.a.Serve(t), "http://"+p.b.Serve(t))
			account := ledgertest.Address("the till")
			watch := new(chain.WatchSet)
			watch.AddAddresses(account)
			p.AddPayment(ledgertest.Payment{To: account, Tag: 5, Amount: 4_000_000})
			p.CloseLedgers(1)
			at, _ := p.Ledger.Tip()
			p.CloseLedgers(1)
			expectTip(t, p.source, p.Ledger)
			p.a.Tamper(func(_ string, _ int, result ledgertest.Fields) {
				ledger, _ := result["ledger"].(ledgertest.Fields)
				if txs, _ := ledger["transactions"].([]any); len(txs) > 0 {
					txs[0].(ledgertest.Fields)["tx_json"].(ledgertest.Fields)["DestinationTag"] = 6
				}
			})
			c.spoil(p.b, at)
			for range 3 {
				p.CloseLedgers(1)               // its header was not read yet
				_, _ = p.source.At(t.Context()) // checks both servers
				block, err := chaintest.ReadBlock(t.Context(), p.source, at, watch)
				var told chain.Problem
				if !errors.As(err, &told) || !strings.Contains(string(told), "no second one confirms") ||
					!strings.Contains(string(told), c.reason) || len(block.Transfers) > 0 {
					t.Errorf("block %+v, error %v, want no second server to confirm it", block, err)
				}
				if nodes := p.source.Nodes(t.Context()); nodes[0].Problem != "" ||
					!strings.Contains(nodes[1].Problem, c.reason) {
					t.Errorf("servers %+v, want a problem only of the second", nodes)
				}
			}
			// The dispute is shown, the ledger is read again, and the dispute ends when both
			// servers agree.
			p.a.Tamper(nil)
			p.b.Hijack(nil)
			p.b.SetBehaviour(func(b *ledgertest.Behaviour) { b.From, b.To = 0, 0 })
			expectTip(t, p.source, p.Ledger)
			block, err := chaintest.ReadBlock(t.Context(), p.source, at, watch)
			if err != nil || len(block.Transfers) != 1 || *block.Transfers[0].Tag != 5 {
				t.Errorf("block %+v, error %v, want the payment with tag 5", block, err)
			}
			if nodes := p.source.Nodes(t.Context()); nodes[1].Problem != "" {
				t.Errorf("second server %+v, want no problem", nodes[1])
			}
		})
	}
}

// TestUnhealthyServersNeedNotConfirm checks that a server that reports itself unhealthy, or is
// down, is not needed as a second server.
func TestUnhealthyServersNeedNotConfirm(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*ledgertest.Server){
		"syncing": func(b *ledgertest.Server) { b.SetBehaviour(func(b *ledgertest.Behaviour) { b.State = "syncing" }) },
		"behind":  func(b *ledgertest.Server) { b.SetBehaviour(func(b *ledgertest.Behaviour) { b.Hidden = 8 }) },
		"down": func(b *ledgertest.Server) {
			b.Hijack(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ledgertest.New(testID, nil)
			a, b := ledgertest.NewServer(l, 2), ledgertest.NewServer(l, 2)
			source := openURLs(t, l, "http://"+a.Serve(t), "http://"+b.Serve(t))
			l.CloseLedgers(9)
			expectTip(t, source, l)
			spoil(b)
			for range 2 { // the first check may not be waited for
				_, _ = source.At(t.Context())
				source.Nodes(t.Context())
			}
			expectTip(t, source, l)
			at, _ := l.Tip()
			block, err := chaintest.ReadBlock(t.Context(), source, at, new(chain.WatchSet))
			if err != nil || block.Height != at {
				t.Errorf("block %+v, error %v, want the last ledger", block.BlockID, err)
			}
		})
	}
}

// TestConfirmationIsRetried checks that a server that misses one answer is asked again before the
// source reports unavailability, except if it reports to be overloaded.
func TestConfirmationIsRetried(t *testing.T) {
	t.Parallel()
	for status, told := range map[int]bool{502: false, 503: true} {
		l := ledgertest.New(testID, nil)
		p := &pair{Ledger: l, a: ledgertest.NewServer(l, 2), b: ledgertest.NewServer(l, 2)}
		var missing atomic.Bool
		p.b.Hijack(func(w http.ResponseWriter, r *http.Request) bool {
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if err != nil || !bytes.Contains(body, []byte("transactions")) || !missing.CompareAndSwap(true, false) {
				return false
			}
			w.WriteHeader(status)
			return true
		})
		p.source = openURLs(t, l, "http://"+p.a.Serve(t), "http://"+p.b.Serve(t))
		book := chaintest.NewLedger(new(chain.WatchSet), 10_000)
		follower := chain.NewFollower(chain.FollowerConfig{Network: "till", Source: p.source, Store: book,
			Watch: new(chain.WatchSet)})
		if _, err := follower.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.CloseLedgers(1)
		missing.Store(true)
		if _, err := follower.Step(t.Context()); (err != nil) != told || missing.Load() {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
}
