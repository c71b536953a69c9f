package ethereum

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/core/clock"
)

// canary is used as a password and a provider's key. It must not appear in any output.
const canary = "s3cret-canary"

// nodeFault is one fault of a node.
type nodeFault struct {
	name  string
	words string // in the sentence
	set   func(*fakeNode)
}

func answerAll(status int, body string) func(*fakeNode) {
	return func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
}

// answerMethod makes a method return another result; nil is null.
func answerMethod(method string, other any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(asked string, result any) any {
			if asked == method {
				return other
			}
			return result
		}
	}
}

func nodeFaults() []nodeFault {
	limit := func(code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, message)
	}
	return []nodeFault{
		{"429", "asked more often than it allows", answerAll(429, "slow down")},
		{"503", "asked more often than it allows", answerAll(503, "")},
		{"rate limit as -32005", "asked more often than it allows",
			answerAll(200, limit(-32005, "daily request count exceeded, request rate limited"))},
		{"rate limit as 429 in JSON", "asked more often than it allows",
			answerAll(200, limit(429, "Your app has exceeded its compute units per second capacity"))},
		{"rate limit of one of several", "asked more often than it allows",
			answerMethod("eth_getBlockReceipts", rpc.Error{Code: -32007, Message: "15/second request limit reached"})},
		{"401", "refuses to answer (HTTP 401)", answerAll(401, "")},
		{"500", "internal error (HTTP 500)", answerAll(500, "")},
		{"a web page", "not as a node's JSON-RPC does", answerAll(200, "<!DOCTYPE html><title>Sign in</title>")},
		{"nothing", "not as a node's JSON-RPC does", answerAll(200, "")},
		{"a redirect", "not as a node's JSON-RPC does", answerAll(302, "")},
		{"another id", "not as a node's JSON-RPC does",
			answerAll(200, `[{"id":-1,"result":"0x1"},{"id":-2,"result":"0x1"},{"id":-3,"result":"0x1"}]`)},
		{"pruned history", "longer history",
			answerMethod("eth_getBlockReceipts", rpc.Error{Code: 4444, Message: "pruned history unavailable"})},
		{"a missing block", "doesn't have block", answerMethod("eth_getBlockReceipts", nil)},
		{"no receipts in a full block (ETH-13)", "don't fit together", answerMethod("eth_getBlockReceipts", []any{})},
		{"still syncing", "still downloading",
			answerMethod("eth_syncing", map[string]string{"currentBlock": "0x1", "highestBlock": "0x9"})},
		{"refused", "refuses a request", answerMethod("eth_getBlockReceipts", rpc.Error{Code: -32602, Message: "invalid argument"})},
	}
}

// expectStopped checks that a step fails without moving, with a sentence that contains the words.
func (b *fixture) expectStopped(words string) {
	b.Helper()
	at := b.ledger.Tip()
	_, err := b.follower.Step(b.Context())
	sentence := b.ledger.Problem()
	if err == nil || b.ledger.Tip() != at {
		b.Fatalf("the fault was not noticed: error %v, at %v after %v", err, b.ledger.Tip(), at)
	}
	if !strings.Contains(sentence, words) || !strings.HasSuffix(sentence, ".") ||
		strings.Contains(sentence, "127.0.0.1") {
		b.Errorf("the sentence is %q, want one with %q", sentence, words)
	}
	if text := err.Error() + sentence; strings.Contains(text, canary) {
		b.Errorf("the password is in %q", text)
	}
}

// clearBackoff lets rate-limited nodes be asked again at once.
func clearBackoff(s *Source) {
	for _, n := range s.nodes.Members {
		n.Pause = node.NewPause(n.clock)
	}
}

// TestFaultOfOnlyNodeStopsFollowing checks that any fault of the only node stops the follower with
// a sentence, and that no block was skipped after the fault ended.
func TestFaultOfOnlyNodeStopsFollowing(t *testing.T) {
	t.Parallel()
	for _, f := range nodeFaults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.password = canary
			var log bytes.Buffer
			s := openURLs(t, strings.Replace(n.URL, "://", "://u:"+canary+"@", 1)+"/"+canary+"?key="+canary)
			s.nodes.Log = slog.New(slog.NewTextHandler(&log, nil))
			b := newFixture(t, c, s)
			b.followToTip()
			to := b.watchNewAddress()
			txid := c.sendEther(outputTo(to, 5), false)
			c.mineBlocks(3)
			n.setBehaviour(f.set)
			b.expectStopped(f.words)
			clearBackoff(s)
			n.setBehaviour(func(n *fakeNode) { n.hijack, n.tamper = nil, nil })
			b.followToTip()
			if len(b.ledger.Transfers()[txid]) != 1 {
				t.Error("a transfer was skipped")
			}
			if strings.Contains(log.String(), canary) {
				t.Errorf("the password is in the log: %s", log.String())
			}
		})
	}
}

// TestSecondNodeTakesOver checks that the second node is used after any fault of the first.
func TestSecondNodeTakesOver(t *testing.T) {
	t.Parallel()
	for _, f := range nodeFaults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			first, second := newFakeNode(t, c), newFakeNode(t, c)
			b := newFixture(t, c, first.openSource(t, second))
			b.followToTip()
			txid := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
			c.mineBlocks(3)
			first.setBehaviour(f.set)
			_, _ = b.follower.Step(b.Context()) // a fault that shows only in this request fails it once
			b.followToTip()
			if second.countRequests("eth_getBlockReceipts") == 0 || len(b.ledger.Transfers()[txid]) != 1 {
				t.Error("the second node was not asked")
			}
		})
	}
}

// TestRateLimitedNodeIsAskedLess checks that the pause after a rate limit grows each time.
func TestRateLimitedNodeIsAskedLess(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	s := n.openSource(t)
	now := clock.NewFake(testTime())
	s.nodes.Members[0].clock, s.nodes.Members[0].Pause = now.Now, node.NewPause(now.Now)
	const maxBackoff = time.Minute
	n.setBehaviour(answerAll(429, ""))
	asked := func(after time.Duration) bool {
		now.Advance(after)
		before := n.countRequests("")
		if _, err := s.At(t.Context()); err == nil {
			t.Fatal("it gives a tip")
		}
		return n.countRequests("") > before
	}
	for _, want := range []struct {
		after time.Duration
		asked bool
	}{{0, true}, {900 * time.Millisecond, false}, {200 * time.Millisecond, true}, {1900 * time.Millisecond, false},
		{200 * time.Millisecond, true}, {3 * time.Second, false},
		{maxBackoff, true}, {maxBackoff, true}, {maxBackoff, true}, {maxBackoff, true}, {maxBackoff, true},
		{maxBackoff - time.Second, false}, {time.Second, true}} {
		if got := asked(want.after); got != want.asked {
			t.Fatalf("after another %s it was asked: %v", want.after, got)
		}
	}
	n.setBehaviour(func(n *fakeNode) { n.hijack = nil })
	now.Advance(maxBackoff)
	if _, err := s.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.setBehaviour(answerAll(429, ""))
	if !asked(0) || asked(900*time.Millisecond) || !asked(200*time.Millisecond) {
		t.Error("what was before an answer isn't forgotten")
	}
}

// TestWrongChainOrTokenIsRefused (ETH-8) checks that a node with another chain or token than
// configured is rejected.
func TestWrongChainOrTokenIsRefused(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]nodeFault{
		"chain id": {words: "follows another network", set: func(n *fakeNode) { n.id = 56 }},
		"no decimals": {words: "finds a contract on ethereum-chain-21337 that isn't USDT's", set: func(n *fakeNode) {
			n.views = nil
		}},
		"short": {words: "finds a contract on ethereum-chain-21337 that isn't USDT's", set: func(n *fakeNode) {
			n.views = map[string]string{decimalsCall: "0x06"}
		}},
		"null":      {words: "not as a node's JSON-RPC does", set: answerMethod("eth_call", nil)},
		"no number": {words: "not as a node's JSON-RPC does", set: answerMethod("eth_call", "six")},
		"an error": {words: "refuses a request that every Ethereum node",
			set: answerMethod("eth_call", rpc.Error{Code: -32603, Message: "internal error"})},
		"no method": {words: "refuses a request that every Ethereum node",
			set: answerMethod("eth_call", rpc.Error{Code: rpc.CodeNoMethod, Message: "method not found"})},
		"a limit": {words: "asked more often than it allows",
			set: answerMethod("eth_call", rpc.Error{Code: -32005, Message: "request limit exceeded"})},
		"no code": {words: "doesn't find the contract of USDT", set: func(n *fakeNode) {
			n.views = map[string]string{decimalsCall: "0x"}
		}},
		"decimals": {words: "other decimals than 6", set: func(n *fakeNode) {
			n.views = map[string]string{decimalsCall: fmt.Sprintf("0x%064x", 18)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			f.set(n)
			newFixture(t, c, n.openSource(t)).expectStopped(f.words)
		})
	}
}

// TestNodeWithoutTokenCallsIsLeftOut checks that a provider that cannot call the contract is left
// out, and that the other one is used.
func TestNodeWithoutTokenCallsIsLeftOut(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	first.setBehaviour(answerMethod("eth_call", rpc.Error{Code: -32603, Message: "internal error"}))
	b := newFixture(t, c, first.openSource(t, second))
	b.followToTip()
	if rows := b.mineAndFind(c.sendTokens(outputTo(b.watchNewAddress(), 6))); len(rows) != 1 {
		t.Errorf("rows of a token transfer: %+v, want 1", rows)
	}
	if got := b.source.Nodes(t.Context()); !strings.Contains(got[0].Problem, "refuses a request") || !got[1].InUse {
		t.Errorf("nodes %+v, want the first refused and in use", got)
	}
}

// TestTokenStateIsNoted (ETH-6, ETH-7) checks that an unusual state of the token is shown to the
// operator and stops nothing.
func TestTokenStateIsNoted(t *testing.T) {
	t.Parallel()
	yes := fmt.Sprintf("0x%064x", 1)
	for call, words := range map[string]string{pausedCall: "has paused USDT",
		deprecatedCall: "has replaced the contract", feeCall: "takes a fee", "": ""} {
		c := newFakeChain(t)
		n := newFakeNode(t, c)
		for _, other := range []string{pausedCall, deprecatedCall, feeCall} {
			n.views[other] = fmt.Sprintf("0x%064x", 0)
		}
		n.views[call] = yes
		b := newFixture(t, c, n.openSource(t))
		b.followToTip()
		if got := b.source.Nodes(t.Context())[0]; got.Problem != "" || !strings.Contains(got.Note, words) ||
			(words == "") != (got.Note == "") {
			t.Errorf("%+v, want a note with %q", got, words)
		}
		if network, token, err := b.source.Notes(t.Context()); err != nil || network != "" ||
			!strings.Contains(token, words) {
			t.Errorf("of the network %q, of the token %q, %v; want %q", network, token, err, words)
		}
	}
}

// TestNothingCountsWhileNodesDisagree checks that nothing counts while two healthy nodes have
// different blocks, and that every block is read when they agree again.
func TestNothingCountsWhileNodesDisagree(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.mineBlocks(3)
	other := c.copyChain()
	first, second := newFakeNode(t, c), newFakeNode(t, other)
	b := newFixture(t, c, first.openSource(t, second))
	b.followToTip()
	txid := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
	c.mineBlocks(3)
	other.mineBlocks(3)
	b.expectStopped("disagree")
	second.setBehaviour(func(n *fakeNode) { n.chain = c })
	b.followToTip()
	if len(b.ledger.Transfers()[txid]) != 1 {
		t.Error("a transfer was skipped")
	}
}

// TestLaggingNodeWithEmptyLogsMovesNothing (ETH-13) checks that a node that lags by 20 blocks and
// answers [] moves nothing.
func TestLaggingNodeWithEmptyLogsMovesNothing(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	limitMethods(n)
	c.mineBlocks(25)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	txid := c.sendTokens(outputTo(b.watchNewAddress(), 5))
	c.mineBlocks(2)
	n.setBehaviour(func(n *fakeNode) { n.hidden = 20 })
	b.expectStopped("behind")
	n.setBehaviour(func(n *fakeNode) { n.hidden = 0; answerMethod("eth_getLogs", []any{})(n) })
	b.followToTip() // by the receipts, because the block's bloom contains the token
	if len(b.ledger.Transfers()[txid]) != 1 {
		t.Error("a transfer was skipped")
	}
}

// TestRequestsPerBlock checks that a block costs one request of two calls, with any content, and
// that several blocks cost as many requests.
func TestRequestsPerBlock(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	per := func(txs, blocks int) int {
		to := b.watchNewAddress()
		for range txs {
			c.sendEther(outputTo(to, 1), false)
			c.sendTokens(outputTo(to, 1), outputTo(to, 2))
		}
		c.mineBlocks(blocks)
		before, looks := n.countRequests(""), n.countRequests("eth_syncing")
		b.followToTip()
		looks = n.countRequests("eth_syncing") - looks
		const mempool = 1
		return n.countRequests("") - before - looks - mempool
	}
	if got := []int{per(0, 1), per(1, 1), per(50, 1), per(0, 10), per(6, 10)}; !slices.Equal(got,
		[]int{1, 1, 1, 10, 10}) {
		t.Errorf("requests for 1, 1, 1, 10 and 10 blocks: %v", got)
	}
}

// TestNewBlockWakesFollower checks that a new block wakes the follower.
func TestNewBlockWakesFollower(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	s := openURLs(t, n.URL+"?stream="+strings.Replace(n.URL, "http", "ws", 1))
	woken := make(chan struct{}, 10)
	defer s.Notify(func() { woken <- struct{}{} })()
	go func() { _ = s.Run(t.Context()) }()
	<-woken // the stream is open
	n.pushed <- `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9","result":{}}}`
	<-woken
}

// TestBadURLsAreRefusedWithoutRepeatingThem checks that errors about bad URLs contain no part of
// them.
func TestBadURLsAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "ws://" + canary, "http://", "ftp://" + canary,
		"http://h?stream=http://" + canary, "http://h?trace=" + canary, "http://h?pending=on",
		"http://h#" + canary, "http://h?stream=ws://a&stream=ws://b", "://" + canary} {
		_, err := New(testParams(), []string{wrong}, node.Access{Clock: testTime})
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("New with the URL %q: error %v, want one without any part of it", wrong, err)
		}
	}
	e, err := parseEndpoint("https://u:p@h:1/v3/key?apikey=k&trace=blocks&pending=off&" +
		"stream=wss%3A%2F%2Fa%3Ab%40h%2Fk%3Fx%3D1")
	if err != nil || e.base != "https://h:1/v3/key?apikey=k" || e.stream != "wss://h/k?x=1" || !e.traceBlocks ||
		!e.noPending || e.header == nil || e.streamHeader == nil || e.host != "h:1" {
		t.Errorf("endpoint %+v, error %v, want all parts of the URL", e, err)
	}
}
