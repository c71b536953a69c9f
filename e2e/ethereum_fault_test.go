package e2e

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// says waits until chain health holds some words.
func (x *etherTill) says(words string) {
	x.t.Helper()
	said := ""
	harness.WaitFor(x.t, time.Minute, "chain health to say "+words, func() bool {
		said = x.RunCommand("", "chain", "status")
		return strings.Contains(said, words)
	})
	if strings.Contains(said, "panic") {
		x.t.Error(said)
	}
}

// once checks that a payment has one transfer.
func (x *etherTill) once(o etherOrder) {
	x.t.Helper()
	if all := x.VerifyPayment(o.Reference).Transfers; len(all) != 1 {
		x.t.Errorf("%s has the transfers %+v", o.Reference, all)
	}
}

// TestEtherBehind (ETH-13): the first of two providers falls behind, and the other is
// followed. When that one fails, the first is, which has caught up meanwhile.
func TestEtherBehind(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	first, second := evm.NewProxy(t, node), evm.NewProxy(t, node)
	x := newEtherTill(t, node, false, first.URL(), second.URL())
	o, next := x.order(inUSDT, 25), x.order(inEther, 25)
	first.SpoilAnswers(evm.LagBehind(node.Height()))
	hash := x.token(o, o.due)
	x.mined()
	x.paid(o, hash)
	x.says("blocks behind the others, and is left out")
	first.SpoilAnswers(nil)
	hash = x.ether(next, next.due)
	x.node.Mine(1)
	x.reach(next.order, "processing", "")
	second.FailRequests(502)
	x.says("reports an internal error (HTTP 502)")
	x.node.Mine(etherDepth - 1)
	x.paid(next, hash)
	x.once(o)
	x.once(next)
}

// TestEtherLags (ETH-13): the only provider falls 20 blocks behind, and answers [] to
// who asks for logs that it doesn't have: nothing is undone, and nothing is missed.
func TestEtherLags(t *testing.T) {
	t.Parallel()
	node := evm.StartGeth(t)
	provider := evm.NewProxy(t, node)
	x := newEtherTill(t, node, true, provider.URL())
	x.node.Mine(20)
	before, meanwhile := x.order(inUSDT, 25), x.order(inUSDT, 25)
	hash := x.token(before, before.due)
	x.node.Mine(2)
	x.reach(before.order, "processing", "")
	provider.SpoilAnswers(evm.LagBehind(node.Height() - 20))
	later := x.token(meanwhile, meanwhile.due)
	x.node.Mine(3)
	x.available(false)
	x.says("The node is behind")
	x.stays(before.order, "processing")
	provider.SpoilAnswers(nil)
	x.available(true)
	x.mined()
	x.paid(before, hash)
	x.paid(meanwhile, later)
	x.once(before)
	x.once(meanwhile)
}

// TestEtherEmpty (ETH-13): a provider says that there is nothing where there is
// something. Where it can be known, it is not believed, and chain health says so;
// where another question tells, that one is asked.
func TestEtherEmpty(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	provider := evm.NewProxy(t, node)
	x := newEtherTill(t, node, false, provider.URL())
	none := evm.Refusal{Code: -32601, Message: "the method eth_getBlockReceipts does not exist/is not available"}
	for _, c := range []struct {
		name    string
		answers map[string]any
		words   string // "" where it is paid all the same
	}{
		{"[] for receipts", map[string]any{"eth_getBlockReceipts": []any{}}, "don't fit together"},
		{"null for receipts", map[string]any{"eth_getBlockReceipts": nil}, "doesn't have block"},
		{"receipts refused", map[string]any{"eth_getBlockReceipts": evm.Refusal{Code: 4444, Message: "pruned history unavailable"}}, "with a longer history"},
		{"limited", map[string]any{"eth_getBlockReceipts": evm.Refusal{Code: -32005, Message: "daily request count exceeded, request rate limited"}}, "asked more often than it allows"},
		{"null for a receipt", map[string]any{"eth_getBlockReceipts": none, "eth_getTransactionReceipt": nil}, "doesn't have block"},
		{"[] for logs", map[string]any{"eth_getBlockReceipts": none, "eth_getLogs": []any{}}, ""},
		{"logs refused", map[string]any{"eth_getBlockReceipts": none, "eth_getLogs": evm.Refusal{Code: -32005, Message: "query returned more than 10000 results"}}, ""},
	} {
		t.Log(c.name)
		token, ether := x.order(inUSDT, 25), x.order(inEther, 25)
		provider.SpoilAnswers(evm.AnswerInstead(c.answers))
		hash, also := x.token(token, token.due), x.ether(ether, ether.due)
		x.node.Mine(1)
		if c.words != "" {
			x.available(false)
			x.says(c.words)
			x.stays(token.order, "initiated")
			provider.SpoilAnswers(nil)
			x.available(true)
		}
		x.node.Mine(etherDepth - 1)
		x.paid(token, hash)
		x.paid(ether, also)
		x.once(token)
		x.once(ether)
		provider.SpoilAnswers(nil)
	}
}

// TestEtherBranches: two providers have different blocks at the same heights. Nothing
// becomes final, and nobody is told to pay, until they agree.
func TestEtherBranches(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	first, second := evm.NewProxy(t, node), evm.NewProxy(t, node)
	x := newEtherTill(t, node, true, first.URL(), second.URL())
	token, ether := x.order(inUSDT, 25), x.order(inEther, 25)
	hash, also := x.token(token, token.due), x.ether(ether, ether.due)
	x.node.Mine(1)
	x.reach(token.order, "processing", "")
	x.reach(ether.order, "processing", "")
	second.SpoilAnswers(second.OtherBranch(node.Height()))
	x.mined()
	x.available(false)
	x.says("disagree: they have different blocks at height")
	x.stays(token.order, "processing")
	x.stays(ether.order, "processing")
	second.SpoilAnswers(nil)
	x.available(true)
	x.paid(token, hash)
	x.paid(ether, also)
	x.once(token)
	x.once(ether)
}

// TestEtherLogs: of two providers the first hides one of two logs of USDT, or writes another
// amount or recipient into it, or the second hides one. Whichever it is, nothing of the
// block counts until both say the same, and then what is true does.
func TestEtherLogs(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	both := []*evm.Proxy{evm.NewProxy(t, node), evm.NewProxy(t, node)}
	x := newEtherTill(t, node, false, both[0].URL(), both[1].URL())
	for wrong, provider := range both {
		for _, name := range []string{"hidden", "amount", "recipient"}[:3-2*wrong] {
			t.Logf("%s by node %d", name, wrong+1)
			o, other := x.order(inUSDT, 25), x.order(inUSDT, 25)
			provider.SpoilAnswers(evm.ChangeLogs(x.usdt, func(log map[string]any) map[string]any {
				topics := log["topics"].([]any)
				its := strings.HasSuffix(topics[2].(string), strings.ToLower(o.address[2:]))
				switch {
				case name == "hidden" && its:
					return nil
				case name == "amount":
					log["data"] = fmt.Sprintf("0x%064x", new(big.Int).Mul(o.due, big.NewInt(2)))
				case name == "recipient" && its:
					topics[2] = "0x" + strings.Repeat("0", 24) + strings.ToLower(other.address[2:])
				}
				return log
			}))
			hash := x.call("several(address[],uint256)", []string{x.usdt, o.address}, o.due)
			x.mined()
			x.available(false)
			x.says("Nodes 1 and 2 of 2 disagree about what block")
			x.stays(o.order, "initiated")
			provider.SpoilAnswers(nil)
			x.available(true)
			x.paid(o, hash)
			x.once(o)
			if now := x.VerifyPayment(other.Reference); now.Status != "initiated" || len(now.Transfers) > 0 {
				t.Errorf("%+v", now)
			}
		}
	}
}

// TestEtherTraceList (ETH-9): a provider that runs blocks again only by trace_block
// shows what contracts send on all the same.
func TestEtherTraceList(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	provider := evm.NewProxy(t, node)
	provider.SpoilAnswers(evm.AnswerInstead(map[string]any{"debug_traceBlockByHash": evm.Refusal{Code: -32601, Message: "the method debug_traceBlockByHash does not exist/is not available"}}))
	x := newEtherTill(t, node, false, provider.URL()+"?trace=blocks")
	etherInner(x)
}

// TestEtherWarned (ETH-6, ETH-7): chain health says that USDT is paused, takes a fee,
// or has barred one of our addresses; what was paid there stays paid.
func TestEtherWarned(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), false, "http://HOST")
	o := x.order(inUSDT, 25)
	hash := x.token(o, o.due)
	x.mined()
	x.paid(o, hash)
	x.call("setFee(uint256)", int64(100))
	x.node.Mine(1)
	x.says("USDT takes a fee of what is sent now")
	x.call("pause(bool)", true)
	x.call("bar(address,bool)", o.address, true)
	x.node.Mine(1)
	x.says("Tether has paused USDT")
	x.Stop()
	x.Start() // else it looks again within the hour
	x.says("Tether has frozen 1 of the addresses")
	x.paid(o, hash)
}
