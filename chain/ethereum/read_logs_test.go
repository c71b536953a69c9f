package ethereum

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/hexjson"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
)

// tokenParams are those of a network whose own coin pays nothing.
func tokenParams() params.Params {
	p := testParams()
	p.Native = "BNB"
	return p
}

// newLogsFixture makes a follower that waits for nothing, of nodes that are read by their logs meanwhile.
func newLogsFixture(t testing.TB, nodes ...*fakeNode) *fixture {
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL+"?idle=logs")
	}
	b := newFixture(t, nodes[0].chain, openNetwork(t, tokenParams(), slog.New(slog.DiscardHandler), urls...))
	b.restWhileIdle(testTime)
	b.followToTip()
	return b
}

// expectWholeBlocks fails unless the ledger holds what whole blocks show, and in as many transactions.
func (b *fixture) expectWholeBlocks(transactions int) {
	b.Helper()
	one := newFixture(b, b.chain, openNetwork(b, tokenParams(), slog.New(slog.DiscardHandler), newFakeNode(b, b.chain).URL))
	one.watch, one.ledger = b.watch, chaintest.NewLedger(b.watch, 400)
	one.follower = chain.NewFollower(chain.FollowerConfig{Network: one.source.Network(), Source: one.source,
		Store: one.ledger, Watch: b.watch})
	one.followToTip()
	got, want := b.ledger.Transfers(), one.ledger.Transfers()
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) != transactions {
		b.Errorf("transfers of %d transactions\n%v\nwant those of %d\n%v", len(got), got, transactions, want)
	}
}

// TestLogsShowWhatBlocksShow checks that blocks that are read by their logs hold the transfers of tokens that whole
// blocks show, whatever the node does to the logs: it gives fewer blocks at a time or none, leaves out those of some
// blocks, or shows those of another branch. It checks as well by how many calls they are read.
func TestLogsShowWhatBlocksShow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*fakeNode)
		most   int // calls in all
	}{
		"all":                          {func(*fakeNode) {}, 20},
		"five blocks":                  {func(n *fakeNode) { n.mostBlocks = 5 }, 40},
		"none":                         {func(n *fakeNode) { n.lacks["eth_getLogs"] = true }, 100},
		"no logs of the newest blocks": {hideNewestLogs, 40},
		"another branch":               {addLogOfAnotherBranch, 200},
		"two branches": {func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				found, ok := result.([]any)
				if !ok || method != "eth_getLogs" || len(found) < 12 {
					return result
				}
				both := slices.Clone(found)
				for height := range 12 {
					other := maps.Clone(found[0].(map[string]any))
					other["blockNumber"], other["blockHash"] = encodeHeight(int64(height+1)), hash{byte(height + 1)}.String()
					both = append(both, other)
				}
				return both
			}
		}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := newFakeChain(t)
			node := newFakeNode(t, net)
			b := newLogsFixture(t, node)
			node.setBehaviour(c.change)
			b.mineTwelve()
			before := countCalls(node)
			b.followToTip()
			if got := countCalls(node) - before; got > c.most {
				t.Errorf("12 blocks cost %d calls, want at most %d", got, c.most)
			}
			b.expectWholeBlocks(9)
		})
	}
}

// TestBlocksWithoutLogsAreAskedFor checks that blocks without a log of USDT are known by their headers, and that one whose
// bloom has the token is read whole although the node shows no log of it.
func TestBlocksWithoutLogsAreAskedFor(t *testing.T) {
	t.Parallel()
	node := newFakeNode(t, newFakeChain(t))
	b := newLogsFixture(t, node)
	b.chain.mineBlocks(3)
	for range 2 {
		b.chain.sendTokens(outputTo(b.watchNewAddress(), 2))
		b.chain.mineBlocks(3)
		b.chain.sendOtherToken(b.chain.newAddress(), 3)
	}
	node.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			found, ok := result.([]any)
			if !ok || method != "eth_getLogs" {
				return result
			}
			return slices.DeleteFunc(slices.Clone(found), func(one any) bool {
				return strings.EqualFold(one.(map[string]any)["address"].(string), b.chain.params.Token.String())
			})
		}
	})
	b.followToTip()
	b.expectWholeBlocks(2)
}

// TestChainChangesAfterTheLogs checks that a payment is found whose block, the last of a batch of 100 or the one before,
// replaces another one between the answers of a node: its logs are of the old block, its header is the new one's.
func TestChainChangesAfterTheLogs(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]int{"in the last block": 0, "in the one before": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := newFakeNode(t, newFakeChain(t))
			b := newLogsFixture(t, node)
			for range 100 - empty {
				b.chain.sendTokens(outputTo(b.chain.newAddress(), 4))
				b.chain.mineBlocks(1)
			}
			b.chain.mineBlocks(empty + 10)
			to, asked := b.watchNewAddress(), 0
			node.setBehaviour(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if method == "eth_getLogs" {
						if asked++; asked == 2 {
							b.chain.sendTokens(outputTo(to, 2))
							b.chain.replaceWithPending(11 + empty)
						}
					}
					return result
				}
			})
			_, _ = b.follower.Step(t.Context()) // the tip changes meanwhile
			b.followToTip()
			b.expectWholeBlocks(1)
		})
	}
}

// TestSpendKeysAreReadInWholeBlocks checks that blocks are read whole while a spend key is watched: a transaction that
// uses it up may leave no log.
func TestSpendKeysAreReadInWholeBlocks(t *testing.T) {
	t.Parallel()
	node := newFakeNode(t, newFakeChain(t))
	b := newLogsFixture(t, node)
	b.watch.AddSpends(strings.ToLower(account{9}.String()) + ":5")
	before := node.countRequests("eth_getBlockByNumber")
	b.mineTwelve()
	b.followToTip()
	if got := node.countRequests("eth_getBlockByNumber") - before; got < 12 {
		t.Errorf("%d of 12 blocks were asked for, want all", got)
	}
	b.expectWholeBlocks(9)
}

// TestReorganisationIsReadByLogs checks that blocks that were known by their logs alone are undone, and that the others
// are read.
func TestReorganisationIsReadByLogs(t *testing.T) {
	t.Parallel()
	node := newFakeNode(t, newFakeChain(t))
	b := newLogsFixture(t, node)
	b.mineTwelve()
	b.followToTip()
	b.chain.replaceBlocks(8, true)
	b.chain.sendTokens(outputTo(b.watchNewAddress(), 4))
	b.chain.mineBlocks(2)
	b.followToTip()
	b.expectWholeBlocks(10)
}

// TestLogsAreConfirmed checks that nothing of several blocks counts while a second node shows a transfer less, also where
// that one gives fewer blocks at once, and that a node that lags confirms nothing and holds up nothing.
func TestLogsAreConfirmed(t *testing.T) {
	t.Parallel()
	net := newFakeChain(t)
	second := newFakeNode(t, net)
	b := newLogsFixture(t, newFakeNode(t, net), second)
	b.mineTwelve()
	hide := func(method string, result any) any {
		found, ok := result.([]any)
		if !ok || method != "eth_getLogs" {
			return result
		}
		return slices.DeleteFunc(slices.Clone(found), func(one any) bool {
			to, err := hexjson.ReadHash(one.(map[string]any)["topics"].([]string)[2])
			return err == nil && b.watch.Address(account(to[12:]).String())
		})
	}
	second.setBehaviour(func(n *fakeNode) { n.tamper, n.mostBlocks = hide, 5 })
	b.expectStopped("about what block")
	second.setBehaviour(func(n *fakeNode) { n.tamper = nil })
	b.followToTip()
	b.expectWholeBlocks(9)
	second.setBehaviour(func(n *fakeNode) { n.hidden = 1 })
	b.mineTwelve()
	b.followToTip()
	b.expectWholeBlocks(18)
}

// TestAnotherBranchConfirmsNoLogs checks that a second node that shows another block below the common tip confirms
// nothing, and isn't said to disagree.
func TestAnotherBranchConfirmsNoLogs(t *testing.T) {
	t.Parallel()
	net := newFakeChain(t)
	first, second := newFakeNode(t, net), newFakeNode(t, net)
	b := newLogsFixture(t, first, second)
	first.setBehaviour(func(n *fakeNode) { n.mostBlocks = 5 })
	net.mineBlocks(12)
	second.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" && block["number"] == encodeHeight(5) {
				block["hash"] = hash{7}.String()
			}
			return result
		}
	})
	b.followToTip()
}

// TestLogsAreForTokensAlone checks that a network whose own coin is ether can't be read by logs: ether leaves none.
func TestLogsAreForTokensAlone(t *testing.T) {
	t.Parallel()
	_, err := New(testParams(), []string{"https://key@node.example?idle=logs"}, node.Access{Clock: testTime})
	if err == nil || !strings.Contains(err.Error(), "idle=logs in the URL of node 1") || strings.Contains(err.Error(), "key@") {
		t.Errorf("error %v, want one that names idle=logs, and no key", err)
	}
	if _, err := parseEndpoint("https://node.example?idle=blocks"); err == nil {
		t.Error("idle=blocks is accepted")
	}
}
