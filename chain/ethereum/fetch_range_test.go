package ethereum

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
	"cointill/core/clock"
	"cointill/core/money"
)

// restWhileIdle makes the fixture's follower one that waits for nothing.
func (b *fixture) restWhileIdle(clock func() time.Time) {
	b.follower = chain.NewFollower(chain.FollowerConfig{Network: b.source.Network(), Source: b.source, Store: b.ledger,
		Watch: b.watch, Clock: clock, RestInterval: time.Hour,
		Awaited: func(context.Context) (bool, error) { return false, nil }})
}

// mineTwelve mines 12 blocks with USDT of others. Three of them pay a new watched address in ether, in USDT and in
// another token.
func (b *fixture) mineTwelve() {
	to := b.watchNewAddress()
	for i := range 12 {
		if i%5 == 1 {
			b.chain.sendEther(outputTo(to, 1), false)
			b.chain.sendTokens(outputTo(to, 2))
			b.chain.sendOtherToken(to, 3)
		}
		b.chain.sendTokens(outputTo(b.chain.newAddress(), 4))
		b.chain.mineBlocks(1)
	}
}

// hideNewestLogs has a node leave out half of the logs of several blocks, the newest.
func hideNewestLogs(n *fakeNode) {
	n.tamper = func(method string, result any) any {
		if found, ok := result.([]any); ok && method == "eth_getLogs" {
			return found[:len(found)/2]
		}
		return result
	}
}

// addLogOfAnotherBranch has a node show one of the logs again, in a block of another branch.
func addLogOfAnotherBranch(n *fakeNode) {
	n.tamper = func(method string, result any) any {
		if found, ok := result.([]any); ok && method == "eth_getLogs" && len(found) > 0 {
			other := maps.Clone(found[0].(map[string]any))
			other["blockHash"] = hash{7}.String()
			return append(slices.Clone(found), other)
		}
		return result
	}
}

// TestRangeShowsWhatBlocksShow checks that several blocks at once hold what each block holds by itself, whatever the
// node does to logs of several blocks: it gives fewer blocks at a time or none, leaves out those of a block, or
// shows those of another branch. It checks as well by how many calls they are read.
func TestRangeShowsWhatBlocksShow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*fakeNode)
		logs   int // calls for logs of 12 blocks
		most   int // calls in all
	}{
		"all":                          {func(*fakeNode) {}, 1, 60},
		"five blocks":                  {func(n *fakeNode) { n.mostBlocks = 5 }, 5, 70},
		"none":                         {func(n *fakeNode) { n.lacks["eth_getLogs"] = true }, 3, 100},
		"no logs of the newest blocks": {hideNewestLogs, 1, 80},
		"another branch":               {addLogOfAnotherBranch, 11, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := newFakeChain(t)
			node := newFakeNode(t, net)
			b := newFixture(t, net, node.openSource(t))
			b.restWhileIdle(testTime)
			b.followToTip()
			node.setBehaviour(c.change)
			b.mineTwelve()
			before := countCalls(node)
			logs := node.countRequests("eth_getLogs")
			b.followToTip()
			if got := node.countRequests("eth_getLogs") - logs; got != c.logs {
				t.Errorf("logs were asked for %d times, want %d", got, c.logs)
			}
			if got := countCalls(node) - before; got > c.most {
				t.Errorf("12 blocks cost %d calls, want at most %d", got, c.most)
			}
			one := newFixture(t, net, newFakeNode(t, net).openSource(t))
			one.watch, one.ledger = b.watch, chaintest.NewLedger(b.watch, 400)
			one.follower = chain.NewFollower(chain.FollowerConfig{Network: one.source.Network(), Source: one.source,
				Store: one.ledger, Watch: b.watch})
			one.followToTip()
			got, want := b.ledger.Transfers(), one.ledger.Transfers()
			if fmt.Sprint(got) != fmt.Sprint(want) || len(want) != 9 {
				t.Errorf("transfers of %d transactions\n%v\nwant those of 9\n%v", len(got), got, want)
			}
		})
	}
}

// TestRangeIsConfirmed checks that nothing of several blocks counts while a second node shows a transfer less.
func TestRangeIsConfirmed(t *testing.T) {
	t.Parallel()
	net := newFakeChain(t)
	second := newFakeNode(t, net)
	b := newFixture(t, net, newFakeNode(t, net).openSource(t, second))
	b.restWhileIdle(testTime)
	b.followToTip()
	b.mineTwelve()
	second.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if found, ok := result.([]any); ok && method == "eth_getLogs" && len(found) > 1 {
				return found[1:]
			}
			return result
		}
	})
	b.expectStopped("about what block")
	second.setBehaviour(func(n *fakeNode) { n.tamper = nil })
	b.followToTip()
	if got := len(b.ledger.Transfers()); got != 9 {
		t.Errorf("%d transactions count, want 9", got)
	}
}

// TestRangeIsTraced checks that a node that is set to trace blocks traces them while nothing is awaited, too.
func TestRangeIsTraced(t *testing.T) {
	t.Parallel()
	net := newFakeChain(t)
	node := newFakeNode(t, net)
	node.lacks = map[string]bool{}
	b := newFixture(t, net, openURLs(t, node.URL+"?trace=blocks"))
	b.restWhileIdle(testTime)
	b.followToTip()
	to := mustParseAccount(t, b.watchNewAddress())
	for range 3 {
		net.sendTx(&fakeTx{To: &account{9}, Calls: []any{map[string]any{"type": "CALL", "from": account{9}.String(),
			"to": to.String(), "value": "0x5"}}})
		net.mineBlocks(1)
	}
	b.followToTip()
	if got := len(b.ledger.Transfers()); got != 3 {
		t.Errorf("%d internal transfers are found in 3 blocks, want 3", got)
	}
}

// countCalls returns how many calls a node has answered.
func countCalls(n *fakeNode) (all int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, count := range n.asked {
		all += count
	}
	return all
}

// TestCallsOfADay counts the calls that a provider of a public network gets in a day, from an hour with blocks, or
// ten minutes. While nothing is awaited Ethereum costs at most 12,000. A network with a block every three seconds
// costs one call for each of its 28,800 blocks and a few for each minute; read by its logs, a few for each minute
// alone. The number that operators see (CallsADay) is the same or up to 3 % more.
func TestCallsOfADay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		network   money.Chain
		blockTime time.Duration
		awaited   bool
		options   string
		most      int
	}{
		{"nothing awaited, a block every 12 s", money.Ethereum, 12 * time.Second, false, "", 12_000},
		{"nothing awaited, a block every 3 s", money.Ethereum, 3 * time.Second, false, "", 34_000},
		{"nothing awaited, a block every 3 s, read by logs", money.BSC, 3 * time.Second, false, "?idle=logs", 8_000},
		{"nothing awaited, a block every 0.5 s, read by logs", money.BSC, time.Second / 2, false, "?idle=logs", 25_000},
		{"a payment awaited, a block every 12 s", money.Ethereum, 12 * time.Second, true, "", 90_000},
		{"a payment awaited, a block every 2 s", money.Polygon, 2 * time.Second, true, "", 220_000},
		{"a payment awaited, a block every 0.25 s", money.Arbitrum, time.Second / 4, true, "", 1_040_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			now := clock.NewFake(testTime())
			p, err := params.Lookup(c.network, money.MainNetwork, "")
			if err != nil {
				t.Fatal(err)
			}
			p.Genesis, p.Stale, p.BlockTime = "", 0, c.blockTime
			net, fake := newRegistryNode(t, p)
			source, err := New(p, []string{fake.URL + c.options}, node.Access{Clock: now.Now})
			if err != nil {
				t.Fatal(err)
			}
			b := newFixture(t, net, source)
			b.restWhileIdle(now.Now)
			every := 90 * time.Second
			if c.awaited {
				b.follower, every = chain.NewFollower(chain.FollowerConfig{Network: source.Network(), Source: source,
					Store: b.ledger, Watch: b.watch, Clock: now.Now}), p.Interval
			}
			b.followToTip()
			before, mined, period := countCalls(fake), 0, time.Hour
			if c.blockTime < time.Second && c.awaited {
				period /= 6 // the fakes take their time
			}
			for passed := every; passed <= period; passed += every {
				for ; mined < int(passed/c.blockTime); mined++ {
					net.sendTokens(outputTo(net.newAddress(), 1))
					net.mineBlocks(1)
				}
				now.Advance(every)
				b.followToTip()
			}
			day := int(24*time.Hour/period) * (countCalls(fake) - before)
			t.Logf("%s: %d calls a day", c.name, day)
			if day > c.most {
				t.Errorf("%d calls a day, want at most %d", day, c.most)
			}
			idle, awaited := source.CallsADay(p.Interval, 90*time.Second)
			if c.awaited {
				idle = awaited
			}
			if c.options == "" && (int64(day) > idle || int64(day)*103 < idle*100) || c.options != "" && idle != 0 {
				t.Errorf("CallsADay expects %d calls, want 0 with idle=logs, else as many as the %d that were counted "+
					"or up to 3 %% more", idle, day)
			}
			answered := int64(countCalls(fake))
			if got := source.Nodes(t.Context())[0].Calls; got < answered || got > answered*12/10 {
				t.Errorf("the node's status counts %d calls, want the %d that it answered or a little more", got,
					answered)
			}
		})
	}
}
