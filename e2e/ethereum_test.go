package e2e

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// etherKey is the public key of the account m/44'/60'/7' of the words "test … junk",
// which stand in every handbook: not the one whose ether nodes of tests have.
const etherKey = "xpub6Ce9NcJvTk37JBtr1eY9EsMZtMiNE1eTP4tmjVpfv5jBrmMxag6m2Vx99tzFbrPSgbYYCGJE82UetSJzNurv8JAzgEx2Duh3aa4p5ZW2gHX"

// etherTill is an instance whose merchant receives ether and USDT on a real node.
type etherTill struct {
	*till
	node      *evm.Node
	usdt      string // the contract
	usdc      string // the contract of a token that is not accepted
	addresses []string
}

// newEtherTill starts an instance on a node. HOST and WS in its URLs are the node's.
func newEtherTill(t *testing.T, node *evm.Node, postgres bool, urls ...string) *etherTill {
	t.Helper()
	x := &etherTill{node: node, usdt: node.DeployContract("Tether"), usdc: node.DeployContract("Tether")}
	i := harness.New(t, postgres)
	for n := range urls {
		urls[n] = strings.NewReplacer("HOST", node.HTTP, "WS", node.WS).Replace(urls[n])
	}
	i.SetSetting("TEST_ETHEREUM_URL", strings.Join(urls, ","))
	i.SetSetting("TEST_ETHEREUM_NETWORK", "chain-"+itoa(int64(node.ChainID)))
	i.SetSetting("TEST_ETHEREUM_USDT", x.usdt)
	i.SetSetting("TEST_ETHEREUM_TOKENS", "USDC="+x.usdc+"/6")
	x.begin(t, i)
	return x
}

// begin starts an instance and gives its merchant the key.
func (x *etherTill) begin(t *testing.T, i *harness.Instance) {
	t.Helper()
	x.till = &till{Instance: i, coin: coin{chain: "ethereum"}, t: t, hooks: newSink(t)}
	i.Start()
	i.CreateBusiness()
	var used struct{ Addresses []string }
	i.DecodeOutput(i.RunCommand("", "wallet", "use", "--business", i.Code, "--domain", "test", "--method", "crypto_ethereum", "--key", etherKey, "--json"), &used)
	x.addresses = used.Addresses
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": x.hooks.URL, "active": true}, 201)
	x.available(true)
}

// etherOrder is an order with what its page asks for, in the smallest unit.
type etherOrder struct {
	order
	due *big.Int
}

var (
	etherLink = regexp.MustCompile(`href="(ethereum:(0x[0-9A-Fa-f]{40})@([0-9]+)\?value=([0-9]+))"`)
	usdtLink  = regexp.MustCompile(`href="(ethereum:(0x[0-9A-Fa-f]{40})@([0-9]+)/transfer\?address=(0x[0-9A-Fa-f]{40})&uint256=([0-9]+))"`)
)

// order initiates a payment in ether or USDT and opens its page.
func (x *etherTill) order(method string, usd int) (o etherOrder) {
	x.t.Helper()
	x.available(true)
	request := harness.NewRequest(method)
	request["amount"] = usd
	x.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(x.t, &o.intent)
	page := x.open(o.URL)
	address, chain, amount := "", "", ""
	if method == "crypto_ethereum" {
		if link := etherLink.FindStringSubmatch(page); link != nil {
			address, chain, amount = link[2], link[3], link[4]
		}
	} else if link := usdtLink.FindStringSubmatch(page); link != nil {
		address, chain, amount = link[4], link[3], link[5]
		if !strings.EqualFold(link[2], x.usdt) {
			x.t.Fatalf("the link names the contract %s", link[2])
		}
		if shown := strings.ReplaceAll(page, link[1], ""); strings.Contains(strings.ToLower(shown), strings.ToLower(x.usdt)) {
			x.t.Error("the page shows the contract's address outside of the wallet's link")
		}
	}
	due, ok := new(big.Int).SetString(amount, 10)
	if !ok || chain != itoa(int64(x.node.ChainID)) || !strings.Contains(page, `data-copy="`+address+`"`) {
		x.t.Fatalf("the page has no link to a wallet, or not the address: %q %q %q", address, chain, amount)
	}
	o.address, o.due = address, due
	return o
}

// ether sends an order some ether.
func (x *etherTill) ether(o etherOrder, amount *big.Int) string {
	x.t.Helper()
	return x.node.SendTransaction(evm.Tx{To: o.address, Value: amount})
}

// call calls one of the token's functions.
func (x *etherTill) call(function string, params ...any) string {
	x.t.Helper()
	return x.node.SendTransaction(evm.Tx{To: x.usdt, Data: evm.EncodeCall("Tether", function, params...)})
}

// token sends an order some USDT.
func (x *etherTill) token(o etherOrder, amount *big.Int) string {
	x.t.Helper()
	return x.call("transfer(address,uint256)", o.address, amount)
}

const (
	inEther    = "crypto_ethereum"
	inUSDT     = "crypto_tether"
	etherDepth = 12
)

// mined mines blocks until what the first of them holds is final by depth.
func (x *etherTill) mined() { x.node.Mine(etherDepth) }

// paid waits until an order is Successful by a transaction.
func (x *etherTill) paid(o etherOrder, hash string) {
	x.t.Helper()
	x.reach(o.order, "successful", "")
	if got := x.VerifyPayment(o.Reference).Transaction; got.CryptoTransactionHash != hash || got.AmountPaid != got.ChargedAmount {
		x.t.Errorf("%+v, want %s", got, hash)
	}
}

// TestEtherPaid: ether and USDT are paid to addresses of one key, none of which is
// given twice; the page follows, and the merchant is told.
func TestEtherPaid(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, etherNodes(), func(t *testing.T, _ string, c etherNode) {
		x := newEtherTill(t, c.start(t), c.postgres, "http://HOST?stream=ws://WS")
		given := map[string]bool{}
		for n, method := range []string{inEther, inUSDT, inEther, inUSDT} {
			o := x.order(method, 25)
			if o.address != x.addresses[n] || given[o.address] {
				t.Errorf("order %d has %s, want %s", n, o.address, x.addresses[n])
			}
			given[o.address] = true
			sights := x.live(o.order)
			x.shows(sights, "waiting")
			hash := ""
			if method == inEther {
				hash = x.ether(o, o.due)
				x.comes(sights, "seen")
			} else {
				hash = x.token(o, o.due)
			}
			x.node.Mine(1)
			x.comes(sights, "processing")
			x.node.Mine(etherDepth - 1)
			x.comes(sights, "successful")
			x.paid(o, hash)
			x.told(o.order, "initiated", "detected", "processing", "successful")
		}
	})
}

// comes waits for a view of a page; that the payment was seen may stand there for a
// moment before.
func (x *etherTill) comes(sights <-chan sight, want string) {
	x.t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for {
		select {
		case got := <-sights:
			if got.view == want {
				return
			} else if got.view != "seen" {
				x.t.Fatalf("the page shows %q, want %q", got.view, want)
			}
		case <-patience.C:
			x.t.Fatalf("the page never showed %q", want)
		}
	}
}

type etherNode struct {
	postgres bool
	traces   bool
	start    func(testing.TB) *evm.Node
}

// etherNodes are the nodes that walks are gone on.
func etherNodes() map[string]etherNode {
	return map[string]etherNode{"anvil": {false, true, evm.StartAnvil}, "geth": {true, false, evm.StartGeth}}
}

// TestEtherWalks (ETH-1, ETH-2, ETH-3, ETH-5, ETH-6, ETH-14) goes every walk on each
// node.
func TestEtherWalks(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, etherNodes(), func(t *testing.T, name string, c etherNode) {
		url := "http://HOST?stream=ws://WS"
		if c.traces {
			url += "&trace=blocks"
		}
		x := newEtherTill(t, c.start(t), !c.postgres, url)
		for _, w := range []struct {
			name string
			run  func(*etherTill)
		}{{"reverted", etherReverted}, {"replaced", etherReplaced}, {"dropped", etherDropped}, {"fakes", usdtFakes}, {"fee", usdtFee}, {"paused", usdtPaused}, {"greater", etherLarge},
			{"inner", etherInner}, {"several", usdtSeveral}, {"reorganised", etherReorgs}, {"moody", usdtMoody}, {"crumbs", etherCrumbs}, {"other token", otherToken}} {
			if x.t = t; w.name == "inner" && !c.traces {
				continue
			}
			began := time.Now()
			w.run(x)
			t.Logf("%s took %s", w.name, time.Since(began).Round(time.Millisecond))
			if t.Failed() {
				t.Fatalf("%s failed", w.name)
			}
		}
	})
}

// etherReverted: a transaction that fails pays nothing.
func etherReverted(x *etherTill) {
	o := x.order(inUSDT, 25)
	x.call("pause(bool)", true)
	hash := x.token(o, o.due)
	x.call("pause(bool)", false)
	x.mined()
	if x.node.HasSucceeded(hash) {
		x.t.Error("it did not fail")
	}
	if now := x.VerifyPayment(o.Reference); now.Status != "initiated" || len(now.Transfers) > 0 {
		x.t.Errorf("%+v", now)
	}
	hash = x.token(o, o.due)
	x.mined()
	x.paid(o, hash)
}

// etherCrumbs: one unit from strangers before and after the customer pays neither spoils the
// payment nor delays it.
func etherCrumbs(x *etherTill) {
	for method, send := range map[string]func(etherOrder, *big.Int) string{inEther: x.ether, inUSDT: x.token} {
		o := x.order(method, 25)
		send(o, big.NewInt(1))
		x.node.Mine(1)
		hash := send(o, o.due)
		x.node.Mine(etherDepth - 1)
		send(o, big.NewInt(1))
		x.node.Mine(1)
		x.paid(o, hash)
		r := x.VerifyPayment(o.Reference)
		if counting := r.CountingTransfers(); len(counting) != 1 || counting[0].Hash != hash || len(r.Transfers) != 3 || !r.Transfers[2].Surplus {
			x.t.Errorf("%s: with two crumbs it was paid by %+v, want %s and two that are surplus", method, r.Transfers, hash)
		}
	}
}

// etherReplaced: a transaction whose nonce another one takes is gone.
func etherReplaced(x *etherTill) {
	o := x.order(inEther, 25)
	nonce := x.node.CountSent(1)
	hash := x.node.SendTransaction(evm.Tx{From: 1, To: o.address, Value: o.due, Nonce: &nonce})
	x.seen(o.order, hash, 0)
	x.node.SendTransaction(evm.Tx{From: 1, To: x.node.AccountAddress(2), Value: big.NewInt(1), Nonce: &nonce, Tip: 9e9})
	x.mined()
	x.reach(o.order, "failed", "replaced")
}

// etherDropped: a transaction that its sender's node forgets is gone, and what comes
// instead pays.
func etherDropped(x *etherTill) {
	if x.node.ChainID != evm.AnvilID {
		return // go-ethereum keeps what its own accounts send
	}
	o := x.order(inEther, 25)
	hash := x.ether(o, o.due)
	x.seen(o.order, hash, 0)
	x.node.Call("anvil_dropTransaction", nil, hash)
	x.unpaid(o.order, "initiated")
	hash = x.node.SendTransaction(evm.Tx{From: 1, To: o.address, Value: o.due})
	x.mined()
	x.paid(o, hash)
}

// usdtFakes: what looks like USDT and isn't, what moves nothing, and what appears
// without a transfer, pays nothing.
func usdtFakes(x *etherTill) {
	fake := x.node.DeployContract("Fake")
	o := x.order(inUSDT, 25)
	x.node.SendTransaction(evm.Tx{To: fake, Data: evm.EncodeCall("Fake", "transfer(address,uint256)", o.address, o.due)})
	x.node.SendTransaction(evm.Tx{To: fake, Data: evm.EncodeCall("Fake", "refuse(address,uint256)", o.address, o.due)})
	x.call("transferFrom(address,address,uint256)", x.node.AccountAddress(3), o.address, int64(0))
	x.call("issue(address,uint256)", o.address, o.due)
	x.mined()
	after := x.order(inUSDT, 25)
	hash := x.token(after, after.due)
	x.mined()
	x.paid(after, hash)
	if now := x.VerifyPayment(o.Reference); now.Status != "initiated" || len(now.Transfers) > 0 {
		x.t.Errorf("%+v", now)
	}
}

// otherToken: a known token that isn't accepted pays nothing, and is listed under Unmatched.
func otherToken(x *etherTill) {
	o := x.order(inUSDT, 25)
	hash := x.node.SendTransaction(evm.Tx{To: x.usdc, Data: evm.EncodeCall("Tether", "transfer(address,uint256)", o.address, o.due)})
	x.mined()
	x.told(o.order, "initiated", "unexpected_transfer")
	if now := x.VerifyPayment(o.Reference); now.Status != "initiated" || len(now.Transfers) > 0 {
		x.t.Errorf("after a transfer of USDC the payment is %+v, want initiated without transfers", now)
	}
	page := browser.StartShared(x.t).OpenTab(x.t, browser.Desktop)
	enter(page, x.Instance)
	page.Open(x.Base + "/dashboard/unmatched")
	row := browser.ReadValue(page, chromedp.Evaluate[string](fmt.Sprintf(`[...document.querySelectorAll("tr")].find(r => r.innerHTML.includes(%q))?.innerText ?? ""`, hash)))
	if !strings.Contains(row, "Wrong asset") || !strings.Contains(row, " USDC") || !strings.Contains(row, o.Reference) {
		x.t.Errorf("the transfer of USDC is listed as %q, want it as the wrong asset at %s", row, o.Reference)
	}
}

// usdtFee: with the fee switched on, what arrives counts.
func usdtFee(x *etherTill) {
	o := x.order(inUSDT, 25)
	x.call("setFee(uint256)", int64(100))
	x.token(o, o.due)
	x.call("setFee(uint256)", int64(0))
	x.mined()
	x.reach(o.order, "processing", "")
	rest := new(big.Int).Sub(o.due, new(big.Int).Sub(o.due, new(big.Int).Div(o.due, big.NewInt(100))))
	x.token(o, rest)
	x.mined()
	x.reach(o.order, "successful", "")
}

// usdtPaused: paused in the middle of a payment, it waits, and goes on.
func usdtPaused(x *etherTill) {
	o := x.order(inUSDT, 25)
	half := new(big.Int).Div(o.due, big.NewInt(2))
	x.token(o, half)
	x.call("pause(bool)", true)
	x.node.Mine(1)
	x.reach(o.order, "processing", "")
	x.token(o, new(big.Int).Sub(o.due, half))
	x.node.Mine(1)
	x.call("pause(bool)", false)
	x.node.Mine(1)
	x.token(o, new(big.Int).Sub(o.due, half))
	x.mined()
	x.reach(o.order, "successful", "")
}

// etherLarge: above 100 USD a payment is final when the network says so.
func etherLarge(x *etherTill) {
	o := x.order(inEther, 101)
	hash := x.ether(o, o.due)
	x.mined()
	x.node.Mine(64) // further than any node's finality is behind
	x.paid(o, hash)
}

// etherInner: ether that a contract sends on pays as any does, and what it takes back
// doesn't.
func etherInner(x *etherTill) {
	forwarder := x.node.DeployContract("Forwarder")
	o, left := x.order(inEther, 25), x.order(inEther, 25)
	x.node.SendTransaction(evm.Tx{To: forwarder, Data: evm.EncodeCall("Forwarder", "undone(address)", o.address), Value: o.due})
	hash := x.node.SendTransaction(evm.Tx{To: forwarder, Data: evm.EncodeCall("Forwarder", "forward(address)", o.address), Value: o.due})
	legacy := x.node.SendTransaction(evm.Tx{Data: evm.CreationCode("Legacy", left.address), Value: left.due})
	x.mined()
	x.paid(o, hash)
	x.paid(left, legacy)
}

// TestEtherInner (ETH-9): where blocks aren't run again one by one, ether that a
// contract sends on is found when it is final: by its transaction where the node can
// tell it, and else it is shown and pays nothing.
func TestEtherInner(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, etherNodes(), func(t *testing.T, _ string, c etherNode) {
		x := newEtherTill(t, c.start(t), c.postgres, "http://HOST?stream=ws://WS")
		forwarder := x.node.DeployContract("Forwarder")
		o := x.order(inEther, 25)
		hash := x.node.SendTransaction(evm.Tx{To: forwarder, Data: evm.EncodeCall("Forwarder", "forward(address)", o.address), Value: o.due})
		x.node.Mine(70)
		if c.traces {
			x.paid(o, hash)
			return
		}
		x.told(o.order, "initiated", "unexpected_transfer")
		if now := x.VerifyPayment(o.Reference); now.Status != "initiated" {
			t.Errorf("%+v", now)
		}
	})
}

// usdtSeveral: one transaction pays two payments, and each gets its own. It moves the same
// amount to both, so they must ask for the same, and the price moves every ten seconds.
func usdtSeveral(x *etherTill) {
	a, b := x.order(inUSDT, 25), x.order(inUSDT, 25)
	for a.due.Cmp(b.due) != 0 {
		a, b = b, x.order(inUSDT, 25)
	}
	hash := x.call("several(address[],uint256)", []string{a.address, b.address}, a.due)
	x.mined()
	x.paid(a, hash)
	x.paid(b, hash)
}

// usdtMoody: a transaction that pays somebody else on the new branch pays nobody here.
func usdtMoody(x *etherTill) {
	o, other := x.order(inUSDT, 25), x.order(inUSDT, 25)
	even, odd := o, other
	if (x.node.Height()+1)%2 == 1 {
		even, odd = other, o
	}
	x.call("moody(address,address,uint256)", even.address, odd.address, o.due)
	x.mined()
	x.reach(o.order, "successful", "")
	if now := x.VerifyPayment(other.Reference); now.Status != "initiated" {
		x.t.Errorf("%+v", now)
	}
}

func itoa(n int64) string { return big.NewInt(n).String() }
