package e2e

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// TestSecondNetworkIsFollowed: a second network of Ethereum's kind is followed beside Ethereum, block by block, and
// one whose contract has other decimals than USDT on that network is refused with the reason.
func TestSecondNetworkIsFollowed(t *testing.T) {
	t.Parallel()
	node := evm.StartAnvil(t)
	usdt, url := node.DeployContract("Tether"), "http://"+node.HTTP
	i := harness.New(t, false)
	for _, code := range []string{"ETHEREUM", "POLYGON", "BSC"} {
		i.SetSetting("TEST_"+code+"_URL", url)
		i.SetSetting("TEST_"+code+"_NETWORK", "chain-"+itoa(int64(node.ChainID)))
		i.SetSetting("TEST_"+code+"_USDT", usdt)
	}
	i.Start()
	var all []struct {
		Network, Problem string
		Applied          int64
	}
	status := func(network string) (problem string, applied int64) {
		for _, one := range all {
			if one.Network == network {
				return one.Problem, one.Applied
			}
		}
		return "not followed", 0
	}
	for round := range 2 {
		tip := node.Height()
		harness.WaitFor(t, time.Minute, "both networks at the tip", func() bool {
			i.DecodeOutput(i.RunCommand("", "chain", "status", "--json"), &all)
			ether, first := status("ethereum-chain-31337")
			polygon, second := status("polygon-chain-31337")
			return ether+polygon == "" && first >= tip && second >= tip
		})
		if problem, applied := status("bsc-chain-31337"); !strings.Contains(problem, "other decimals than 18") || applied != 0 {
			t.Errorf("round %d: bsc-chain-31337 is at %d with the problem %q, want it refused by the decimals", round, applied, problem)
		}
		node.Mine(5)
	}
}

// newPolygonTill starts an instance on two nodes. One stands for Polygon, with the contract there.
func newPolygonTill(t *testing.T) (x *etherTill, polygon *evm.Node, there string) {
	t.Helper()
	ether, polygon := evm.StartAnvil(t), evm.StartAnvilAs(t, 31338)
	x = &etherTill{node: ether, usdt: ether.DeployContract("Tether")}
	there = polygon.DeployContract("Tether")
	i := harness.New(t, false)
	for code, node := range map[string]*evm.Node{"ETHEREUM": ether, "POLYGON": polygon} {
		i.SetSetting("TEST_"+code+"_URL", "http://"+node.HTTP)
		i.SetSetting("TEST_"+code+"_NETWORK", "chain-"+itoa(int64(node.ChainID)))
	}
	i.SetSetting("TEST_ETHEREUM_USDT", x.usdt)
	i.SetSetting("TEST_POLYGON_USDT", there)
	x.begin(t, i)
	return x, polygon, there
}

// payOnPolygon sends USDT there, and mines until it is final.
func payOnPolygon(polygon *evm.Node, contract, to string, amount *big.Int) (hash string) {
	hash = polygon.SendTransaction(evm.Tx{To: contract,
		Data: evm.EncodeCall("Tether", "transfer(address,uint256)", to, amount)})
	polygon.Mine(70)
	return hash
}

// TestUSDTOnAnotherNetwork: USDT that comes to a payment's address on a network that is off is listed under Unmatched.
// Once it is on, a payment takes USDT there, chosen on its page or not.
func TestUSDTOnAnotherNetwork(t *testing.T) {
	t.Parallel()
	x, polygon, there := newPolygonTill(t)
	i := x.Instance
	const network = "polygon-chain-31338"
	pay := func(o etherOrder) string {
		t.Helper()
		return payOnPolygon(polygon, there, o.address, o.due)
	}
	off := x.order(inUSDT, 25)
	lost := pay(off)
	harness.WaitFor(t, time.Minute, "the transfer under Unmatched", func() bool {
		var list []struct{ Reason, Network, Hash, Amount, Reference string }
		i.SendRequest("GET", "/v1/unmatched", nil, 200).DecodeData(t, &list)
		return len(list) == 1 && list[0].Reason == "network_off" && list[0].Network == network && list[0].Hash == lost &&
			list[0].Reference == off.Reference
	})
	if got := i.VerifyPayment(off.Reference); got.Status != "initiated" {
		t.Errorf("the payment is %s, want initiated: it waits for the money on Ethereum", got.Status)
	}

	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	enter(page, i)
	page.Open(i.Base + "/dashboard/methods")
	page.ClickElement("#switch-crypto_tether-polygon")
	page.WaitForElement("#switch-crypto_tether-polygon[aria-checked=true]")
	page.CheckPage()
	page.TakeShot("methods-networks")
	page.Open(i.Base + "/dashboard/till")
	page.ClickElement("input[value=crypto_tether]")
	page.WaitForElement("input[name=network_crypto_tether][value=ethereum]:checked")
	page.ClickElement("input[name=network_crypto_tether][value=polygon]")
	page.CheckPage()
	page.TakeShot("till-networks")
	page.Open(i.Base + "/dashboard/till")
	page.WaitForElement("input[name=network_crypto_tether][value=polygon]:checked") // remembered
	silent := x.order(inUSDT, 30)
	hash := pay(silent)
	x.paid(silent, hash)

	chosen := x.order(inUSDT, 35)
	page.Open(chosen.URL)
	page.CheckPage()
	page.TakeShot("pay-networks")
	page.ClickElement("details:has(#networks) summary")
	page.ClickElement("button[name=network][value=polygon]")
	page.WaitForElement("a[href*='@31338/transfer']")
	page.WaitForExpression(`!document.querySelector("details:has(#networks)").open && document.activeElement.matches("summary:has(+ #networks)")`)
	page.CheckPage()
	page.TakeShot("pay-network-chosen")
	if link := page.ReadAttribute("a[href*='@31338/transfer']", "href"); !strings.Contains(strings.ToLower(link),
		strings.ToLower(there)) || !strings.Contains(link, "uint256="+chosen.due.String()) {
		t.Errorf("the link is %s, want one to the contract %s for %s", link, there, chosen.due)
	}
	hash = pay(chosen)
	x.paid(chosen, hash)
	late := chosen
	late.due = big.NewInt(1)
	pay(late) // a crumb on that network spoils nothing
	if got := i.VerifyPayment(chosen.Reference); got.Status != "successful" || len(got.CountingTransfers()) != 1 {
		t.Errorf("after a crumb the payment is %s with %d transfers, want successful with one", got.Status,
			len(got.CountingTransfers()))
	}
	x.token(chosen, big.NewInt(1))
	x.mined()
	x.paid(silent, i.VerifyPayment(silent.Reference).Transaction.CryptoTransactionHash)
}

// TestRefundOnAnotherNetwork (SD-7): money that came on another network goes back there, from an account of that
// network. A transaction for another chain isn't sent, and the addresses that payments come to are refused there too.
func TestRefundOnAnotherNetwork(t *testing.T) {
	t.Parallel()
	x, polygon, there := newPolygonTill(t)
	paying, customer := polygon.AccountAddress(payingAccount), "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, x.Instance)
	page.Open(x.Base + "/dashboard/methods")
	page.FollowLink("#switch-crypto_tether-polygon")
	paid := x.order(inUSDT, 25)
	x.paid(paid, payOnPolygon(polygon, there, paid.address, paid.due))
	payOnPolygon(polygon, there, paying, new(big.Int).Mul(paid.due, big.NewInt(2)))

	x.SendRequest("POST", "/v1/sends", harness.Fields{"kind": "refund", "payment_reference": paid.Reference,
		"address": x.addresses[0]}, 422)
	id := x.refundApproved(paid, customer)
	at := x.Base + "/dashboard/sends/" + id
	x.registerWallet(page, paying)
	page.Open(at + "/sign")
	if text := page.ReadText("main"); !strings.Contains(text, "Register the wallet that pays first") ||
		!strings.Contains(text, "Polygon") || strings.Contains(text, "Ethereum") {
		t.Errorf("with a wallet on Ethereum the page of a send on Polygon says %q", text)
	}
	page.Open(x.Base + "/dashboard/sends/wallets")
	page.ChooseOption("select[name=network]", "polygon-chain-31338")
	x.submitWallet(page, paying)
	page.Open(at + "/sign")
	page.FollowLink("form[action$='/sign'] button[type=submit]")
	page.TakeShot("send-sign-polygon")
	page.CheckPage()
	if text := page.ReadText("main"); !strings.Contains(text, " POL") || strings.Contains(text, " ETH") {
		t.Errorf("the fee on Polygon isn't in POL: %q", text)
	}
	unsigned := download(t, page, at+"/sign?file=unsigned.json")
	submit := func(file string) string {
		page.Open(at + "/sign")
		page.PasteText("textarea[name=signed]", signEther(t, "--file", []byte(file)))
		page.FollowLink("form[action$='/check'] button[type=submit]")
		return page.ReadText("main")
	}
	forged := strings.Replace(unsigned, "31338", "31337", 1)
	if forged == unsigned {
		t.Fatalf("the file %s doesn't name the chain", unsigned)
	}
	if text := submit(forged); !strings.Contains(text, "this is not the approved send") {
		t.Errorf("a transaction for another chain is answered by %q", text)
	}
	if text := submit(unsigned); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	polygon.Mine(1)
	seen := x.reachSend(id, "processing")
	polygon.Mine(70)
	if done := x.reachSend(id, "successful"); done.Hash != seen.Hash || !polygon.HasSucceeded(done.Hash) {
		t.Errorf("%+v, want the transaction %s", done, seen.Hash)
	}
	var held string
	polygon.Call("eth_call", &held, map[string]string{"to": there, "data": "0x70a08231" + strings.Repeat("0",
		24) + strings.ToLower(customer[2:])}, "latest")
	if got, _ := new(big.Int).SetString(strings.TrimPrefix(held, "0x"), 16); got == nil || got.Cmp(paid.due) != 0 {
		t.Errorf("the customer has %s of USDT on Polygon, want %s", held, paid.due)
	}
	page.Open(at)
	page.TakeShot("send-polygon")
	if text := page.ReadText("main"); !strings.Contains(text, "Polygon") || !strings.Contains(text, "POL") {
		t.Errorf("the page of the send doesn't name Polygon and its fee: %q", text)
	}
	page.Open(x.Base + "/dashboard/journal")
	if text := page.ReadText("main"); !strings.Contains(text, "polygon-chain-31338") || !strings.Contains(text, " POL") {
		t.Errorf("the journal doesn't name the network and its fee: %q", text)
	}
	page.TakeShot("journal-polygon")
}
