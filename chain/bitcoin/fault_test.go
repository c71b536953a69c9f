package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
)

// fixture is a follower over fake nodes, with its ledger.
type fixture struct {
	testing.TB
	chain    *fakeChain
	source   *Source
	ledger   *chaintest.Ledger
	watch    *chain.WatchSet
	follower *chain.Follower
	serial   int64
}

func newFixture(t testing.TB, c *fakeChain, source *Source) *fixture {
	watch := &chain.WatchSet{Codec: Codec(c.params)}
	ledger := chaintest.NewLedger(watch, 400)
	return &fixture{TB: t, chain: c, source: source, ledger: ledger, watch: watch,
		follower: chain.NewFollower(chain.FollowerConfig{Network: source.Network(), Source: source, Store: ledger,
			Watch: watch})}
}

// payNewAddress pays a new watched address.
func (b *fixture) payNewAddress() string {
	to := chain.Destination{Address: b.chain.newAddress()}
	b.watch.AddAddresses(to.Address)
	b.serial++
	return b.chain.sendTx(nil, chain.Output{Destination: to, Amount: money.Units(1000 + b.serial)})
}

// mustStep expects a step to succeed and to bring the ledger to the chain's tip.
func (b *fixture) mustStep() {
	b.Helper()
	if _, err := b.follower.Step(b.Context()); err != nil {
		b.Fatalf("step: %v", err)
	}
	if b.ledger.Tip() != b.chain.tipID() || b.ledger.Problem() != "" || len(b.ledger.ListViolations()) > 0 {
		b.Fatalf("at %v of %v, health %q, %v", b.ledger.Tip(), b.chain.tipID(), b.ledger.Problem(),
			b.ledger.ListViolations())
	}
}

// expectProblem expects a step to fail without moving, with a sentence that contains some words. If
// only the mempool fails, blocks count all the same.
func (b *fixture) expectProblem(words string) {
	b.Helper()
	at := b.ledger.Tip()
	_, err := b.follower.Step(b.Context())
	if err == nil || b.ledger.Tip() != at && !strings.Contains(err.Error(), "the mempool can't be read") {
		b.Fatalf("the fault was not noticed: error %v, at %v after %v", err, b.ledger.Tip(), at)
	}
	sentence := b.ledger.Problem()
	if !strings.Contains(sentence, words) || !strings.HasSuffix(sentence, ".") ||
		strings.Contains(sentence, "127.0.0.1") {
		b.Errorf("the sentence is %q, want one with %q", sentence, words)
	}
	for _, secret := range []string{canary, "cookie-" + canary} {
		if strings.Contains(err.Error(), secret) || strings.Contains(sentence, secret) {
			b.Errorf("the password is in %q or %q", err, sentence)
		}
	}
}

// canary is a password that may appear in no output.
const canary = "p%w0rd-canary"

type nodeFault struct {
	name  string
	want  string // words of the expected sentence
	apply func(*fakeNode)
}

// adjustments are the changes of the source that a fault needs.
func (f nodeFault) adjustments() []func(*Source) {
	if f.name == "silence" {
		return []func(*Source){shortenSilence}
	}
	return nil
}

// answerWith makes the node answer every request in one way.
func answerWith(status int, body string) func(*fakeNode) {
	return func(n *fakeNode) {
		n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
}

// tamperWith makes the node change the result of a method.
func tamperWith(method string, change func(string) any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(asked string, result any) any {
			switch text := result.(type) {
			case string:
				if asked == method {
					return change(text)
				}
			case []byte: // Esplora's bytes
				if asked == method {
					return change(hex.EncodeToString(text))
				}
			}
			return result
		}
	}
}

// hangUntilClosed accepts a request and sends nothing until the client closes the connection.
func hangUntilClosed(_ http.ResponseWriter, r *http.Request) bool {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	return true
}

// cutOff breaks the connection in the middle of an answer.
func cutOff(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"result":`))
	_ = http.NewResponseController(w).Flush() // otherwise no byte is sent, and the client repeats the request
	panic(http.ErrAbortHandler)
}

// answerEndlessly sends bytes without end.
func answerEndlessly(w http.ResponseWriter, r *http.Request) bool {
	for r.Context().Err() == nil {
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
			break
		}
	}
	return true
}

// nodeFaults are the faults of a node that can occur on every network.
func nodeFaults() []nodeFault { return append(badAnswers(), badContents()...) }

// badAnswers are malformed answers.
func badAnswers() []nodeFault {
	return []nodeFault{
		{"401", "refuses the user name and password", answerWith(401, "")},
		{"403", "forbids", answerWith(403, "")},
		{"500", "internal error (HTTP 500)", answerWith(500, "oops")},
		{"502 page", "internal error (HTTP 502)", answerWith(502, "<html>bad gateway</html>")},
		{"503", "overloaded", answerWith(503, "Work queue depth exceeded")},
		{"404 page", "not as a node's JSON-RPC", answerWith(404, "<html>nothing here</html>")},
		{"web page", "not as a node's JSON-RPC", answerWith(200, "<!DOCTYPE html>")},
		{"empty", "not as a node's JSON-RPC", answerWith(200, "")},
		{"garbage", "not as a node's JSON-RPC", answerWith(200, "\x00\xff{{{")},
		{"another answer", "not as a node's JSON-RPC", answerWith(200, `{"result":1,"error":null,"id":0}`)},
		{"redirect", "not as a node does", func(n *fakeNode) {
			n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
				return true
			}
		}},
		{"warming up", "is starting", answerWith(500,
			`{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":null}`)},
		{"refused method", "refuses getblockchaininfo", func(n *fakeNode) {
			n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				body, _ := io.ReadAll(r.Body)
				var c fakeCall
				_ = json.Unmarshal(body, &c)
				_ = json.NewEncoder(w).Encode(fakeReply{nil, &rpcError{-32601, "Method not found "}, c.ID})
				return true
			}
		}},
		{"silence", "says nothing for", func(n *fakeNode) { n.intercept = hangUntilClosed }},
		{"cut off", "broke off", func(n *fakeNode) { n.intercept = cutOff }},
		{"endless", "longer than they can be", func(n *fakeNode) { n.intercept = answerEndlessly }},
		{"1 GB", "longer than they can be", func(n *fakeNode) {
			n.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Length", "1000000000")
				_, _ = w.Write([]byte("{"))
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}},
	}
}

// badContents are well-formed answers with false contents.
func badContents() []nodeFault {
	flip := func(at int) func(string) any {
		return func(text string) any { return text[:at] + otherDigit[text[at:at+1]] + text[at+1:] }
	}
	return []nodeFault{
		{"wrong network", "another network", func(n *fakeNode) { n.network = "test" }},
		{"headers ahead", "still downloading", func(n *fakeNode) { n.headers = 2 }},
		{"no hash", "not as a node's JSON-RPC", tamperWith("getblockhash", func(string) any { return "xyz" })},
		{"no text", "not as a node's JSON-RPC", tamperWith("getblock", func(string) any { return 7 })},
		{"no hexadecimal", "not as a node's JSON-RPC",
			tamperWith("getblock", func(text string) any { return "zz" + text[2:] })},
		{"truncated block", "damaged", tamperWith("getblock", func(text string) any { return text[:len(text)-20] })},
		{"short block", "damaged", tamperWith("getblock", func(text string) any { return text[:100] })},
		{"longer block", "damaged", tamperWith("getblock", func(text string) any { return text + "00" })},
		{"wrong merkle root", "damaged",
			tamperWith("getblock", func(text string) any { return flip(len(text) - 12)(text) })},
		{"other nonce", "damaged", tamperWith("getblock", flip(152))},
		{"other header", "damaged", tamperWith("getblockheader", flip(150))},
		{"short header", "damaged", tamperWith("getblockheader", func(text string) any { return text[:20] })},
		{"other block", "not the one asked for", func(n *fakeNode) {
			other := hex.EncodeToString(n.chain.blocks[1].raw)
			tamperWith("getblock", func(string) any { return other })(n)
		}},
		{"another height", "contradicts itself", func(n *fakeNode) {
			other := n.chain.blocks[1].hash
			tamperWith("getblockhash", func(string) any { return other })(n)
		}},
		{"no list", "not as a node's JSON-RPC", func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				if method == "getrawmempool" {
					return []string{"abc"}
				}
				return result
			}
		}},
		{"other transaction", "damaged", tamperWith("getrawtransaction", flip(8))},
		{"broken transaction", "damaged", tamperWith("getrawtransaction", func(text string) any { return text[:40] })},
		{"behind", "is behind", func(n *fakeNode) { n.hidden = 3 }},
	}
}

// otherDigit maps each hexadecimal digit to another one.
var otherDigit = map[string]string{"0": "1", "1": "0", "2": "3", "3": "2", "4": "5", "5": "4", "6": "7", "7": "6",
	"8": "9", "9": "8", "a": "b", "b": "a", "c": "d", "d": "c", "e": "f", "f": "e"}

// TestNodeFaultsStopCountingUntilTheyEnd (BTC-8, BTC-9): while a node has any of the faults, no
// block is counted and the sentence says what to do. After the fault the follower recovers.
func TestNodeFaultsStopCountingUntilTheyEnd(t *testing.T) {
	t.Parallel()
	for _, f := range nodeFaults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			c.mineBlocks(3)
			n := newFakeNode(t, c, "core")
			n.password = canary
			var log bytes.Buffer
			s := openURLs(t, c, strings.Replace(n.URL, "://", "://u:p%25w0rd-canary@", 1))
			for _, change := range f.adjustments() {
				change(s)
			}
			s.nodes.Log = slog.New(slog.NewTextHandler(&log, nil))
			b := newFixture(t, c, s)
			b.mustStep()
			mined := b.payNewAddress()
			c.mineBlocks(2)
			pending := b.payNewAddress()
			n.update(f.apply)
			b.expectProblem(f.want)
			b.expectProblem(f.want)
			n.update(func(n *fakeNode) {
				n.intercept, n.tamper, n.network, n.hidden, n.headers = nil, nil, "regtest",
					0, 0
			})
			b.mustStep()
			if b.ledger.Confirmations(mined) != 2 || len(b.ledger.Transfers()[pending]) != 1 {
				t.Errorf("after the fault: %+v", b.ledger.Transfers())
			}
			if strings.Contains(log.String(), canary) || strings.Contains(log.String(), "p%25w0rd") {
				t.Errorf("the log holds the password: %s", &log)
			}
		})
	}
}

// TestEsploraFaultsStopCountingUntilTheyEnd: the same holds for the faults of an Esplora server.
func TestEsploraFaultsStopCountingUntilTheyEnd(t *testing.T) {
	t.Parallel()
	for _, f := range []nodeFault{
		{"500", "internal error", answerWith(500, "")},
		{"404", "not as an Esplora server does", answerWith(404, "")},
		{"web page", "not as an Esplora server does", answerWith(200, "<html>")},
		{"silence", "says nothing for", func(n *fakeNode) { n.intercept = hangUntilClosed }},
		{"wrong merkle root", "damaged", func(n *fakeNode) {
			n.tamper = func(_ string, result any) any {
				raw, ok := result.([]byte)
				if ok && len(raw) > 80 && raw[0] == 4 {
					raw = slices.Clone(raw)
					raw[len(raw)-6] ^= 1
					return raw
				}
				return result
			}
		}},
		{"no hash", "not as an Esplora server does", tamperWith("block-height", func(string) any { return "xyz" })},
		{"lost block", "doesn't have it", func(n *fakeNode) {
			n.tamper = func(asked string, result any) any {
				if asked == "block" {
					return nil
				}
				return result
			}
		}},
		{"broken transaction", "damaged", tamperWith("tx", func(string) any { return "xyz" })},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			c.mineBlocks(3)
			n := newFakeNode(t, c, "esplora")
			s := n.openSource(t)
			for _, change := range f.adjustments() {
				change(s)
			}
			b := newFixture(t, c, s)
			b.mustStep()
			b.payNewAddress()
			c.mineBlocks(2)
			pending := b.payNewAddress()
			n.update(f.apply)
			b.expectProblem(f.want)
			n.update(func(n *fakeNode) { n.intercept, n.tamper = nil, nil })
			b.mustStep()
			if len(b.ledger.Transfers()[pending]) != 1 {
				t.Error("the pending transaction is not seen")
			}
		})
	}
}

// TestPublicNetworkNeedsItsGenesisAndARecentTip (BTC-8): a node of a public network must have its
// first block, and a tip of recent time.
func TestPublicNetworkNeedsItsGenesisAndARecentTip(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, publicParams(t))
	c.mineBlocks(3)
	n := newFakeNode(t, c, "core")
	s := n.openSource(t)
	b := newFixture(t, c, s)
	b.mustStep()
	c.mineBlocks(1)
	n.update(func(n *fakeNode) { n.syncing = true })
	b.expectProblem("still downloading the chain")
	n.update(func(n *fakeNode) { n.syncing = false })
	b.mustStep()
	late := func(d time.Duration) {
		for _, n := range s.nodes.Members {
			n.clock = func() time.Time { return time.Now().Add(d) }
		}
	}
	late(4 * time.Hour)
	b.expectProblem("hangs")
	late(-3 * time.Hour)
	b.expectProblem("from the future")
	late(0)
	b.mustStep()
	other := *c.params.Params
	other.GenesisHash = paramsOf(t, money.Bitcoin, "testnet4").GenesisHash
	s = n.openSource(t)
	s.nodes.Members[0].params.Params = &other
	newFixture(t, c, s).expectProblem("its first block is another")
}

// TestRestartedNodeIsAskedAgain: a node that is down is reported, and asked again after its
// restart.
func TestRestartedNodeIsAskedAgain(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "core")
	b := newFixture(t, c, n.openSource(t))
	b.mustStep()
	address := n.Listener.Addr().String()
	n.CloseClientConnections()
	n.Close()
	c.mineBlocks(1)
	b.expectProblem("can't be reached")
	again := newFakeNodeAt(t, c, address)
	b.mustStep()
	if again.countCalls("getblock") == 0 {
		t.Error("the restarted node was not asked")
	}
}
