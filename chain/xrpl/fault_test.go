package xrpl

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
)

// pair is a ledger with two servers and a source of both.
type pair struct {
	*ledgertest.Ledger
	a, b   *ledgertest.Server
	source *Source
}

func newPair(t *testing.T) *pair {
	l := ledgertest.New(testID, nil)
	p := &pair{Ledger: l, a: ledgertest.NewServer(l, 2), b: ledgertest.NewServer(l, 2)}
	p.source = openURLs(t, l, "http://"+p.a.Serve(t), "ws://"+p.b.Serve(t))
	return p
}

// expectNoTip checks that the source has no tip, with a reason in the error.
func expectNoTip(t *testing.T, s *Source, reason string) {
	t.Helper()
	view, err := s.At(t.Context())
	var told chain.Problem
	if !errors.As(err, &told) || !strings.Contains(string(told), reason) {
		t.Errorf("tip %+v, problem %q, error %v; want %q", view.Tip.BlockID, told, err, reason)
	}
}

// expectTip checks that the source's tip is the last ledger.
func expectTip(t *testing.T, s *Source, l *ledgertest.Ledger) {
	t.Helper()
	view, err := s.At(t.Context())
	tip := view.Tip
	if index, hash := l.Tip(); err != nil || tip.Height != index || tip.Hash != hash || tip.Finalized != index {
		t.Errorf("tip %+v, %v; want %d", tip, err, index)
	}
}

// TestUnhealthyServerIsNotUsed (XRP-8) checks that a server is not used while it is amendment
// blocked, lagging, out of sync or on another network, and is used again afterwards.
func TestUnhealthyServerIsNotUsed(t *testing.T) {
	t.Parallel()
	id := func(n uint32) *uint32 { return &n }
	for name, c := range map[string]struct {
		spoil  func(*ledgertest.Behaviour)
		reason string
	}{
		"blocked":      {func(b *ledgertest.Behaviour) { b.AmendmentBlocked = true }, "amendment blocked"},
		"connected":    {func(b *ledgertest.Behaviour) { b.State = "connected" }, "not in step"},
		"syncing":      {func(b *ledgertest.Behaviour) { b.State = "syncing" }, "not in step"},
		"tracking":     {func(b *ledgertest.Behaviour) { b.State = "tracking" }, "not in step"},
		"disconnected": {func(b *ledgertest.Behaviour) { b.State = "disconnected" }, "not in step"},
		"no state":     {func(b *ledgertest.Behaviour) { b.State = "" }, "not as a server of the XRP Ledger"},
		"main": {func(b *ledgertest.Behaviour) {
			b.NetworkID = id(0)
		}, "another network than xrp-network-21337"},
		"testnet": {func(b *ledgertest.Behaviour) { b.NetworkID = id(1) }, "another network"},
		"behind":  {func(b *ledgertest.Behaviour) { b.Hidden = 6 }, "lags"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ledgertest.New(testID, nil)
			s := ledgertest.NewServer(l, 2)
			source := openURLs(t, l, "http://"+s.Serve(t))
			expectTip(t, source, l)
			s.SetBehaviour(c.spoil)
			expectNoTip(t, source, c.reason)
			if st := source.Nodes(t.Context())[0]; !strings.Contains(st.Problem, c.reason) {
				t.Errorf("status %+v", st)
			}
			s.SetBehaviour(func(b *ledgertest.Behaviour) { *b = ledgertest.Behaviour{State: "proposing"} })
			expectTip(t, source, l)
			if st := source.Nodes(t.Context())[0]; st.Problem != "" || !st.InUse || st.Dialect != "rippled" ||
				st.Version != "2.6.1" {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// TestServerWithoutNetworkIDServesMainNetwork checks that a server without a network_id is
// accepted only for the main network, and only if its ledgers are high enough.
func TestServerWithoutNetworkIDServesMainNetwork(t *testing.T) {
	t.Parallel()
	main, _ := params.Lookup("mainnet")
	test, _ := params.Lookup("testnet")
	st := serverState{mode: "full", kind: "rippled", index: 98_000_000}
	if err := st.checkUsable(main); err != nil {
		t.Error(err)
	}
	if err := st.checkUsable(test); err == nil {
		t.Error("a server without network_id passes for the test network's")
	}
	if st.index = 12_000_000; st.checkUsable(main) == nil {
		t.Error("a server of a short chain without network_id passes for the main network's")
	}
}

// TestStaleLedgerIsRefused (XRP-8) lets time pass without a new ledger.
func TestStaleLedgerIsRefused(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	s := ledgertest.NewServer(l, 2)
	source := openURLs(t, l, "http://"+s.Serve(t))
	l.AdvanceTime(maxLedgerAge)
	expectTip(t, source, l)
	l.AdvanceTime(time.Second)
	expectNoTip(t, source, "lags")
	// A server with a stopped clock reports its ledger as new.
	s.Tamper(func(command string, _ int, result ledgertest.Fields) {
		if command == "server_info" {
			result["info"].(ledgertest.Fields)["validated_ledger"].(ledgertest.Fields)["age"] = 1
		}
	})
	expectTip(t, source, l)
	l.AdvanceTime(maxClockSkew)
	expectNoTip(t, source, "lags")
	l.AdvanceTime(-10 * time.Minute)
	expectNoTip(t, source, "future")
}

// TestNewestAPIVersionIsTriedFirst checks that the newest version of the API is tried first, and
// not again if the server supports only version 1.
func TestNewestAPIVersionIsTriedFirst(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	for newest := 1; newest <= 2; newest++ {
		s := ledgertest.NewServer(l, newest)
		var asked [3]atomic.Int32
		s.Tamper(func(_ string, version int, _ ledgertest.Fields) { asked[version].Add(1) })
		host := s.Serve(t)
		for _, scheme := range []string{"http", "ws"} {
			source := openURLs(t, l, scheme+"://"+host)
			expectTip(t, source, l)
			expectTip(t, source, l)
		}
		if asked[3-newest].Load() != 0 || asked[newest].Load() == 0 {
			t.Errorf("newest %d: %d and %d answers", newest, asked[1].Load(), asked[2].Load())
		}
	}
}

// TestCursorStopsAtMissingLedger (XRP-7) checks that the cursor does not skip a ledger that no
// server has, and continues when a server has it.
func TestCursorStopsAtMissingLedger(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		at := b.book.Tip().Height
		var ids []string
		for range 6 {
			ids = append(ids, b.AddPayment(ledgertest.Payment{To: b.account, Tag: 1, Amount: 4_000_000}))
			b.CloseLedgers(1)
		}
		b.server.SetBehaviour(func(a *ledgertest.Behaviour) { a.From, a.To = at+3, at+4 })
		for range 2 {
			if _, err := b.follower.Step(t.Context()); err == nil ||
				!strings.Contains(b.book.Problem(), fmt.Sprint("ledger ", at+3)) || b.book.Tip().Height > at+2 {
				t.Errorf("at %d, health %q, error %v", b.book.Tip().Height, b.book.Problem(), err)
			}
		}
		b.server.SetBehaviour(func(a *ledgertest.Behaviour) { a.From, a.To = 0, 0 })
		b.closeAndRead()
		for _, id := range ids {
			b.onlyTransfer(id)
		}
	})
}

// TestLedgerMissingOnOneServerIsReadFromOthers (XRP-7) checks that a ledger that one server lacks
// is read from two others. With only one other server, no second one can confirm it.
func TestLedgerMissingOnOneServerIsReadFromOthers(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	var urls []string
	var servers []*ledgertest.Server
	for range 3 {
		s := ledgertest.NewServer(l, 2)
		servers, urls = append(servers, s), append(urls, "http://"+s.Serve(t))
	}
	source := openURLs(t, l, urls...)
	expectTip(t, source, l)
	l.CloseLedgers(5)
	at, _ := l.Tip()
	for lacking, s := range servers[:2] {
		s.SetBehaviour(func(b *ledgertest.Behaviour) { b.From, b.To = at-4, at-2 })
		expectTip(t, source, l)
		for index := at - 5; index <= at; index++ {
			block, err := chaintest.ReadBlock(t.Context(), source, index, new(chain.WatchSet))
			if lonely := lacking == 1 && index >= at-4 && index <= at-2; lonely == (err == nil) ||
				!lonely && block.Height != index {
				t.Errorf("ledger %d, lacked by %d: %+v, %v", index, lacking+1, block.BlockID, err)
			}
		}
	}
}

// TestSecondServerTakesOver checks that the second server answers if the first cannot, and that
// the status shows which one is in use.
func TestSecondServerTakesOver(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	expectTip(t, p.source, p.Ledger)
	p.a.SetBehaviour(func(b *ledgertest.Behaviour) { b.AmendmentBlocked = true })
	p.CloseLedgers(2)
	expectTip(t, p.source, p.Ledger)
	nodes := p.source.Nodes(t.Context())
	if nodes[0].InUse || nodes[0].Problem == "" || !nodes[1].InUse || nodes[1].Problem != "" {
		t.Errorf("servers %+v, want a problem of the first and the second in use", nodes)
	}
	p.a.SetBehaviour(func(b *ledgertest.Behaviour) { b.AmendmentBlocked = false })
	p.b.SetBehaviour(func(b *ledgertest.Behaviour) { b.State = "syncing" })
	p.CloseLedgers(2)
	expectTip(t, p.source, p.Ledger)
	p.a.SetBehaviour(func(b *ledgertest.Behaviour) { b.AmendmentBlocked = true })
	expectNoTip(t, p.source, "No server can be used. Server 1 of 2 is amendment blocked")
}

// TestTipNeedsTwoServers checks that the tip is the highest ledger that two servers have.
func TestTipNeedsTwoServers(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, behind := range []*ledgertest.Server{p.a, p.b} {
		behind.SetBehaviour(func(b *ledgertest.Behaviour) { b.Hidden = 2 })
		index, _ := p.Ledger.Tip()
		if view, err := p.source.At(t.Context()); err != nil || view.Tip.Height != index-2 {
			t.Errorf("tip %+v, %v", view.Tip, err)
		}
		behind.SetBehaviour(func(b *ledgertest.Behaviour) { b.Hidden = 0 })
		expectTip(t, p.source, p.Ledger)
	}
}

// TestNothingCountsWhileServersDisagree checks that no server is trusted while two servers of one
// network have different ledgers.
func TestNothingCountsWhileServersDisagree(t *testing.T) {
	t.Parallel()
	l, other := ledgertest.New(testID, nil), ledgertest.New(testID, nil)
	other.AddPayment(ledgertest.Payment{To: ledgertest.Address("x"), Amount: 5_000_000})
	l.CloseLedgers(3)
	other.CloseLedgers(3)
	a, b := ledgertest.NewServer(l, 2), ledgertest.NewServer(other, 2)
	source := openURLs(t, l, "http://"+a.Serve(t), "http://"+b.Serve(t))
	expectNoTip(t, source, "Servers 1 and 2 of 2 disagree about ledger")
	b.SetBehaviour(func(b *ledgertest.Behaviour) { b.State = "syncing" })
	expectTip(t, source, l)
	b.SetBehaviour(func(b *ledgertest.Behaviour) { b.State = "full" })
	expectNoTip(t, source, "disagree")
	for _, st := range source.Nodes(t.Context()) {
		if !strings.Contains(st.Problem, "disagree") {
			t.Errorf("server %+v, want a problem with \"disagree\"", st)
		}
	}
}

// TestInventedPaymentIsContradicted checks that the second server contradicts one that invents a
// payment, a tag or an amount under a true header.
func TestInventedPaymentIsContradicted(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	account := ledgertest.Address("the till")
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	id := p.AddPayment(ledgertest.Payment{To: account, Tag: 5, Amount: 4_000_000})
	p.CloseLedgers(1)
	at, _ := p.Ledger.Tip()
	expectTip(t, p.source, p.Ledger)
	block, err := chaintest.ReadBlock(t.Context(), p.source, at, watch)
	if err != nil || len(block.Transfers) != 1 || block.Transfers[0].TxID != id {
		t.Fatalf("block %+v, error %v, want the payment", block, err)
	}
	p.a.Tamper(func(command string, _ int, result ledgertest.Fields) {
		if command != "ledger" {
			return
		}
		if txs, ok := result["ledger"].(ledgertest.Fields)["transactions"].([]any); ok {
			txs[0].(ledgertest.Fields)["tx_json"].(ledgertest.Fields)["DestinationTag"] = 6
		}
	})
	expectTip(t, p.source, p.Ledger)
	if block, err = chaintest.ReadBlock(t.Context(), p.source, at, watch); err == nil ||
		!strings.Contains(err.Error(), "Servers 1 and 2 of 2 disagree about the content of ledger") {
		t.Errorf("block %+v, error %v, want a disagreement", block, err)
	}
}

// TestSilentServerIsGivenUp checks that a server that accepts a request and does not answer is
// given up.
func TestSilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	for _, scheme := range []string{"http", "ws"} {
		s := ledgertest.NewServer(l, 2)
		ended := make(chan struct{})
		s.Hijack(func(http.ResponseWriter, *http.Request) bool { <-ended; return true })
		source := openURLs(t, l, scheme+"://"+s.Serve(t))
		t.Cleanup(func() { close(ended) }) // before the server waits for its answers
		switch asking := source.nodes.Members[0].transport.(type) {
		case *httpTransport:
			asking.client.SilenceTimeout = 100 * time.Millisecond
		case *socketTransport:
			asking.client.SilenceTimeout = 100 * time.Millisecond
		}
		expectNoTip(t, source, "says nothing for 100ms")
	}
	expectNoTip(t, openURLs(t, l, "http://127.0.0.1:1"), "can't be reached")
	expectNoTip(t, openURLs(t, l, "ws://127.0.0.1:1"), "can't be reached")
}

// TestClosedWebSocketIsReopened checks that a websocket that the server closed is opened again
// within one request.
func TestClosedWebSocketIsReopened(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	s := ledgertest.NewServer(l, 2)
	source := openURLs(t, l, "ws://"+s.Serve(t))
	for range 3 {
		expectTip(t, source, l)
		_ = source.nodes.Members[0].transport.(*socketTransport).conn.CloseNow()
		l.CloseLedgers(1)
	}
	expectTip(t, source, l)
}

// TestBadURLsAreRefusedWithoutRepeatingThem checks that valid URLs are read, and that errors
// contain no part of a bad one.
func TestBadURLsAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "secret", "ftp://secret@h:1", "http://", "ws://:1", "http://u:secret@h:x",
		"http://h?stream=secret", "ws://h?stream=ws://x", "http://h?stream=ws://u:secret@x",
		"http://h?zmq=secret", "http://h#secret", "http://h?stream=ws://a&stream=ws://b", "http://%zz-secret"} {
		if _, err := New(testParams(), []string{"http://ok:1", text}, node.Access{}); err == nil ||
			strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "server 2 of 2") {
			t.Errorf("New with the URL %q: error %v, want one that names server 2 of 2 and no "+
				"part of the URL", text, err)
		}
	}
	for _, nodes := range [][]string{nil, slices.Repeat([]string{"http://a"}, 2),
		slices.Repeat([]string{"http://a"}, 9)} {
		if _, err := New(testParams(), nodes, node.Access{}); err == nil {
			t.Errorf("%q was accepted", nodes)
		}
	}
	e, err := parseEndpoint("https://u:p%40@host:5/path?stream=wss://other:6/s")
	if err != nil || e.base != "https://host:5/path" || e.stream != "wss://other:6/s" ||
		e.header.Get("Authorization") != "Basic dTpwQA==" || e.host != "host:5" {
		t.Errorf("endpoint %+v, error %v, want all parts of the URL", e, err)
	}
}
