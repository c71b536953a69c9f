package tron

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain/node"
	"cointill/core/clock"
)

// canary is a key that no sentence and no error may hold.
const canary = "4f1c-canary-key"

// nodeFault is one fault of a node.
type nodeFault struct {
	name  string
	words string // in the sentence
	set   func(*fakeNode)
}

// answerAll makes the node answer every request alike.
func answerAll(status int, body string) func(*fakeNode) {
	return func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, _ string) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
}

// answerPath makes a path return another answer.
func answerPath(path string, other any) func(*fakeNode) {
	return changePath(path, func(map[string]any) any { return other })
}

// changePath changes the answers of a path that are an object.
func changePath(path string, edit func(answer map[string]any) any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(asked string, _ map[string]any, answer any) any {
			if asked != path {
				return answer
			}
			object, _ := answer.(map[string]any)
			return edit(object)
		}
	}
}

const (
	blockPath = "/wallet/getblockbynum"
	infoPath  = "/wallet/gettransactioninfobyblocknum"
	tipPath   = "/wallet/getblock"
)

// editRaw changes a field of a block's header.
func editRaw(path, field string, value any) func(*fakeNode) {
	return changePath(path, func(answer map[string]any) any {
		answer["block_header"].(map[string]any)["raw_data"].(map[string]any)[field] = value
		return answer
	})
}

// editInfos changes the results of a block's transactions.
func editInfos(edit func(all []any) any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(path string, _ map[string]any, answer any) any {
			if all, ok := answer.([]any); ok && path == infoPath {
				return edit(all)
			}
			return answer
		}
	}
}

// editInfo changes a field of the first result.
func editInfo(field string, value any) func(*fakeNode) {
	return editInfos(func(all []any) any {
		all[0].(map[string]any)[field] = value
		return all
	})
}

func nodeFaults() []nodeFault {
	const limited, damaged, apart = "asked more often than it allows", "damaged, or not the one asked for",
		"don't fit together"
	return []nodeFault{
		{"429", limited, answerAll(429, "slow down")},
		{"503", limited, answerAll(503, `{"Success":false,"Error":"The key exceeds the frequency limit","StatusCode":503}`)},
		{"403 for a limit", limited, answerAll(403,
			`{"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 5s"}`)},
		{"a limit of java-tron", limited, answerAll(200,
			`{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}`)},
		{"401", "refuses to answer (HTTP 401)", answerAll(401, `{"Error":"ApiKey not exists"}`)},
		{"403", "refuses to answer (HTTP 403)", answerAll(403, "")},
		{"404", "doesn't serve a part of the HTTP API", answerAll(404, "")},
		{"500", "internal error (HTTP 500)", answerAll(500, "")},
		{"a redirect", "not as the HTTP API of a node of Tron does", answerAll(302, "")},
		{"a web page", "not as the HTTP API of a node of Tron does", answerAll(200, "<!DOCTYPE html><title>Sign in</title>")},
		{"nothing", "not as the HTTP API of a node of Tron does", answerAll(200, "")},
		{"an exception", "refuses a request", answerPath(blockPath,
			`{"Error":"class java.lang.NullPointerException : null"}`)},
		{"no solidified blocks", "doesn't serve a part of the HTTP API", func(n *fakeNode) {
			n.lacks["/walletsolidity/getblock"], n.lacks["/walletsolidity/getnowblock"] = true, true
		}},
		{"no tip", "has no block yet", answerPath(tipPath, "{}")},
		{"a block of the future", "doesn't have block", answerPath(blockPath, "{}")},
		{"no results", "doesn't have block", answerPath(infoPath, "[]")},
		{"results as an object", "not as the HTTP API", answerPath(infoPath, "{}")},
		{"a result too few", apart, editInfos(func(all []any) any { return all[1:] })},
		{"a result twice", apart, editInfos(func(all []any) any { return append(all[1:], all[1]) })},
		{"the results of another block", apart, editInfo("blockNumber", 1)},
		{"the results of another branch", apart, editInfo("blockTimeStamp", testTime().UnixMilli())},
		{"a result of another transaction", apart, editInfo("id", strings.Repeat("ab", 32))},
		{"a result that contradicts its block", apart, editInfo("receipt", map[string]any{"result": "OUT_OF_TIME"})},
		{"no transactions in a full block", apart, changePath(blockPath, func(answer map[string]any) any {
			delete(answer, "transactions")
			return answer
		})},
		{"an older block", apart, func(n *fakeNode) {
			n.tamper = func(path string, _ map[string]any, answer any) any {
				if path == blockPath {
					return n.chain.blocks[len(n.chain.blocks)-2].blockJSON()
				}
				return answer
			}
		}},
		{"another number", damaged, editRaw(blockPath, "number", 1)},
		{"another parent", damaged, editRaw(blockPath, "parentHash", strings.Repeat("0", 64))},
		{"another time", damaged, editRaw(blockPath, "timestamp", 1)},
		{"another root", damaged, editRaw(blockPath, "txTrieRoot", strings.Repeat("ab", 32))},
		{"another version", damaged, editRaw(tipPath, "version", 99)},
		{"another transaction", "not as the HTTP API", changePath(blockPath, func(answer map[string]any) any {
			answer["transactions"].([]any)[0].(map[string]any)["txID"] = strings.Repeat("ab", 32)
			return answer
		})},
		{"a long answer", "longer than they can be", answerPath(tipPath, `{"blockID":"`+strings.Repeat("0",
			maxSmallResponse)+`"}`)},
	}
}

// TestFaultOfOnlyNodeStopsFollowing: any fault of the only node stops the follower with a sentence, and no transfer
// is missed or counted twice after it ended.
func TestFaultOfOnlyNodeStopsFollowing(t *testing.T) {
	t.Parallel()
	for _, fault := range nodeFaults() {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			f := newFixture(t, newFakeNode(t, c))
			to := f.watchNewAddress()
			c.mineBlocks(3)
			f.followToTip()
			before := f.ledger.Tip()
			ids := []string{c.sendTokens(outputTo(to, 1)), c.sendTokens(outputTo(to, 2))}
			c.mineBlocks(1)
			f.node.setBehaviour(fault.set)
			_, err := f.follower.Step(t.Context())
			sentence := f.ledger.Problem()
			if err == nil || f.ledger.Tip() != before {
				t.Fatalf("the fault was not noticed: error %v, at %v after %v", err, f.ledger.Tip(), before)
			}
			if !strings.Contains(sentence, fault.words) || !strings.HasSuffix(sentence,
				".") || strings.Contains(sentence, "127.0.0.1") {
				t.Errorf("the sentence is %q, want one with %q", sentence, fault.words)
			}
			f.node.setBehaviour(func(n *fakeNode) { n.hijack, n.tamper, n.lacks = nil, nil, map[string]bool{} })
			f.source.nodes.Members[0].pause = node.NewPause(testTime)
			f.followToTip()
			for _, id := range ids {
				if rows := f.ledger.Transfers()[id]; len(rows) != 1 || rows[0].Height != 4 {
					t.Errorf("transaction %s has the transfers %+v, want one in block 4", id, rows)
				}
			}
		})
	}
}

// TestRetryAfterIsKept: after a limit the node isn't asked before its Retry-After has passed, and a limit doesn't
// make it prove again who it is.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	now := clock.NewFake(testTime())
	f.source.nodes.Members[0].pause = node.NewPause(now.Now)
	f.node.setBehaviour(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, _ string) bool {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
	})
	asked := func(after time.Duration) bool {
		now.Advance(after)
		before := f.node.countRequests(tipPath)
		_, _ = f.source.At(t.Context())
		return f.node.countRequests(tipPath) > before
	}
	for _, one := range []struct {
		after time.Duration
		asked bool
	}{{0, true}, {29 * time.Second, false}, {2 * time.Second, true}, {29 * time.Second, false}} {
		if got := asked(one.after); got != one.asked {
			t.Errorf("after another %s it was asked: %t, want %t", one.after, got, one.asked)
		}
	}
	identified := f.node.countRequests("/wallet/triggerconstantcontract")
	f.node.setBehaviour(func(n *fakeNode) { n.hijack = nil })
	now.Advance(time.Minute)
	f.followToTip()
	if again := f.node.countRequests("/wallet/triggerconstantcontract"); again != identified {
		t.Errorf("the node was asked %d times about its token after a limit, want none", again-identified)
	}
}

// TestWrongChainOrTokenIsRefused: a node of another network, or whose contract of USDT is another one, is refused
// with the reason.
func TestWrongChainOrTokenIsRefused(t *testing.T) {
	t.Parallel()
	const nile = "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc"
	genesis := func(id string) func(*fakeNode) {
		return func(n *fakeNode) {
			n.tamper = func(path string, asked map[string]any, answer any) any {
				if path == tipPath && asked["id_or_num"] == "0" {
					raw := map[string]any{"number": 0, "timestamp": 0, "parentHash": strings.Repeat("0", 64), "unknown": 1}
					return map[string]any{"blockID": id, "block_header": map[string]any{"raw_data": raw}}
				}
				return answer
			}
		}
	}
	view := func(function, value string) func(*fakeNode) {
		return func(n *fakeNode) { n.views[function] = value }
	}
	for _, fault := range []nodeFault{
		{"another network", "its first block is the one of tron-nile", genesis(nile)},
		{"an unknown network", "its first block is of a network that is not known here",
			genesis(strings.Repeat("0", 16) + strings.Repeat("ab", 24))},
		{"18 decimals", "has other decimals than 6", view("decimals()", abiNumber(18))},
		{"a short number", "finds no contract of USDT", view("decimals()", "06")},
		{"another symbol", `calls itself "USDC"`, view("symbol()", abiText("USDC"))},
		{"no text", "finds no contract of USDT", view("symbol()", abiNumber(6))},
		{"no contract", "finds no contract of USDT", func(n *fakeNode) { n.views = nil }},
		{"a revert", "finds no contract of USDT", answerPath("/wallet/triggerconstantcontract",
			map[string]any{"result": map[string]any{"result": true, "message": "524556455254"},
				"constant_result": []string{""}})},
	} {
		n := newFakeNode(t, newFakeChain(t))
		n.setBehaviour(fault.set)
		source := n.openSource(t)
		_, err := source.At(t.Context())
		if err == nil || !strings.Contains(err.Error(), fault.words) {
			t.Errorf("%s: %v, want %q", fault.name, err, fault.words)
		}
		if status := source.Nodes(t.Context()); !strings.Contains(status[0].Problem, fault.words) {
			t.Errorf("%s: the status is %+v, want %q", fault.name, status[0], fault.words)
		}
	}
}

// TestStaleTipIsNoticed: a node whose last block is old or from the future isn't used.
func TestStaleTipIsNoticed(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t, newFakeChain(t))
	for _, one := range []struct {
		off   time.Duration
		words string
	}{{0, ""}, {5 * time.Minute, ""}, {5*time.Minute + time.Second, "hangs, or is still downloading"},
		{-2 * time.Minute, ""},
		{-2*time.Minute - time.Second, "from the future"}} {
		p := testParams()
		p.Stale = 5 * time.Minute
		s := openURLs(t, p, n.URL)
		s.nodes.Members[0].clock = func() time.Time { return testTime().Add(one.off) }
		_, err := s.At(t.Context())
		if one.words == "" && err != nil || one.words != "" && (err == nil || !strings.Contains(err.Error(), one.words)) {
			t.Errorf("a tip %s old: %v, want %q", one.off, err, one.words)
		}
	}
}

// TestKeysAreSent: the user of a URL is sent as a provider's key, a user with a password as such, and neither is in a
// sentence or an error.
func TestKeysAreSent(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	n.key = canary
	for _, one := range []struct{ user, words string }{{canary + "@", ""}, {"other-" + canary + "@", "HTTP 401"},
		{"", "HTTP 401"},
		{"u:" + canary + "@", "HTTP 401"}} {
		s := openURLs(t, testParams(), strings.Replace(n.URL, "://", "://"+one.user, 1)+"/")
		_, err := s.At(t.Context())
		if one.words == "" && err != nil || one.words != "" && (err == nil || !strings.Contains(err.Error(), one.words)) {
			t.Errorf("with the user %q: %v, want %q", one.user, err, one.words)
		}
		if text := fmt.Sprint(err, s.Nodes(t.Context())); strings.Contains(text, canary) {
			t.Errorf("the key is in %q", text)
		}
		if password := strings.HasPrefix(one.user, "u:"); password != (n.headers.Get("Authorization") != "") {
			t.Errorf("with the user %q the headers are %v", one.user, n.headers)
		}
	}
}

// TestEndpoints: a node's URL is split, and a wrong one is refused without its text.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ text, base, solidity, words string }{
		{"https://key@api.trongrid.io", "https://api.trongrid.io", "", ""},
		{" http://127.0.0.1:8090/?solidity=http://127.0.0.1:8091/ ", "http://127.0.0.1:8090", "http://127.0.0.1:8091", ""},
		{"https://host/" + canary + "/tron/", "https://host/" + canary + "/tron", "", ""},
		{"ws://host", "", "", "must begin with http or https"},
		{"host:8090", "", "", "can't be read"},
		{"https://" + canary + "%zz@host", "", "", "can't be read"},
		{"https://host?key=" + canary, "", "", "can only be solidity"},
		{"https://host?solidity=ftp://" + canary, "", "", "solidity in its URL must be"},
		{"https://host?solidity=http://" + canary + "@host", "", "", "without a user"},
	} {
		e, err := parseEndpoint(one.text)
		if one.words == "" && (err != nil || e.base != one.base || e.solidity != one.solidity) {
			t.Errorf("parseEndpoint(%s) = %+v, %v, want %s and %s", one.text, e, err, one.base, one.solidity)
		}
		if one.words != "" && (err == nil || !strings.Contains(err.Error(),
			one.words) || strings.Contains(err.Error(), canary)) {
			t.Errorf("parseEndpoint(%s): %v, want %q without its text", one.text, err, one.words)
		}
	}
}
