package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// tronAccount is the address of the wallet of tests, or of another one.
type tronAccount struct{ Base58, Hex string }

// runTronWallet has tronweb name its address, or sign a transaction.
func runTronWallet(t *testing.T, act string, input []byte) []byte {
	t.Helper()
	wallet := exec.Command("node", "tron_wallet.mjs", act)
	wallet.Stdin = bytes.NewReader(input)
	var problem bytes.Buffer
	wallet.Stderr = &problem
	output, err := wallet.Output()
	if err != nil {
		t.Fatalf("tronweb doesn't %s %s: %v %s", act, input, err, problem.String())
	}
	return output
}

// startTronShop starts a program that follows a node of Nile, and names the address of tronweb's wallet.
func startTronShop(t *testing.T) (*harness.Instance, *tronNode, tronAccount) {
	t.Helper()
	node := startTronNode(t)
	i := harness.New(t, false)
	i.SetSetting("TEST_TRON_URL", node.URL)
	i.SetSetting("TEST_TRON_NETWORK", "nile")
	i.SetSetting("TEST_TRON_USDT", nileToken)
	i.Start()
	i.CreateBusiness()
	var wallet tronAccount
	if err := json.Unmarshal(runTronWallet(t, "address", nil), &wallet); err != nil {
		t.Fatal(err)
	}
	return i, node, wallet
}

// announceTron has a page find a wallet of Tron in the browser (TIP-6963), whose answers come from the test.
func announceTron(page *browser.Page, address string) {
	_ = browser.ReadValue(page, chromedp.Evaluate[bool](`(() => {
		window.asked = [];
		const ask = (r) => new Promise((done, failed) => window.asked.push({ r, done, failed }));
		const provider = { request: async () => ["`+address+`"],
			tronWeb: { defaultAddress: { base58: "`+address+`" }, trx: { sign: ask, signMessageV2: ask } } };
		const name = "Wallet `+address[:4]+`";
		dispatchEvent(new CustomEvent("TIP6963:announceProvider", { detail: { info: { uuid: name, name }, provider } }));
		return true;
	})()`))
}

// readTronQuestion waits until the page asks the wallet to sign something, and returns it.
func readTronQuestion(page *browser.Page) string {
	page.WaitForExpression(`window.asked.length > 0`)
	return browser.ReadValue(page, chromedp.Evaluate[string](`JSON.stringify(window.asked[0].r)`))
}

// answerTron answers the page's question by a text in JSON.
func answerTron(page *browser.Page, answer string) {
	_ = browser.ReadValue(page, chromedp.Evaluate[bool](`(() => { window.asked.shift().done(`+answer+`); return true; })()`))
}

// TestTronKeyIsProvedInBrowser: a wallet of Tron in the browser signs the message that proves the key of one address,
// and the page puts the signature into the form. tronweb signs.
func TestTronKeyIsProvedInBrowser(t *testing.T) {
	t.Parallel()
	i, _, holder := startTronShop(t)
	page := browser.StartShared(t).OpenTab(t, views["desktop"])
	enter(page, i)
	page.Open(i.Base + "/dashboard/methods/tron/wallet")
	page.PasteText("[name=key]", holder.Base58)
	page.FollowLink("main form[action$='/review'] button[type=submit]")
	page.FillField("input[name=password]", harness.Password)
	page.FollowLink("main form[action$='/wallet'] button[type=submit]")
	page.WaitForElement("[data-wallet]:not([hidden])")
	announceTron(page, holder.Base58)
	page.ClickElement("[data-wallet-list] button")
	var message string
	if err := json.Unmarshal([]byte(readTronQuestion(page)), &message); err != nil || !strings.Contains(message, holder.Base58) {
		t.Fatalf("the wallet is asked to sign %q, %v, want a message for %s", message, err, holder.Base58)
	}
	answerTron(page, string(runTronWallet(t, "message", []byte(message))))
	page.WaitForElement("[data-wallet-note=signed]:not([hidden])")
	page.FillField("form[action$='/prove'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/prove'] button[type=submit]")
	page.CheckPage()
	if text := page.ReadText("main"); !strings.Contains(text, "Key proved on") {
		t.Errorf("the page says %q, want that the key is proved", text)
	}
}

// TestTronPayout (SD-7): a payout of USDT is signed by a wallet of Tron in the browser (TIP-6963), whose signatures are
// tronweb's. A transaction to another address isn't sent. The node is a fake one: none can run here.
func TestTronPayout(t *testing.T) {
	t.Parallel()
	i, node, paying := startTronShop(t)
	const customer = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf"
	var asked sentRecord
	i.SendRequest("POST", "/v1/sends", harness.Fields{"kind": "payout", "payment_method": "crypto_tether", "network": "tron",
		"amount": "25", "address": customer}, 201).DecodeData(t, &asked)
	i.SendRequest("POST", "/v1/sandbox/sends/"+asked.ID+"/approve", harness.Fields{}, 200)

	page := browser.StartShared(t).OpenTab(t, views["desktop"])
	enter(page, i)
	page.Open(i.Base + "/dashboard/sends/wallets")
	page.FillField("input[name=address]", paying.Base58)
	page.FillField("form[action$='/wallets'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/wallets'] button[type=submit]")
	page.Open(i.Base + "/dashboard/sends/" + asked.ID + "/sign")
	page.ClickElement("form[action$='/sign'] button[type=submit]")
	page.WaitForElement("[data-wallet]:not([hidden])")
	announceTron(page, customer)
	page.ClickElement("[data-wallet-list] button")
	page.WaitForElement("[data-wallet-note=account]:not([hidden])")
	page.TakeShot("send-tron")
	page.CheckPage()
	// sign returns to the page what the wallet signs, after a change.
	sign := func(change func(string) string, words string) string {
		t.Helper()
		announceTron(page, paying.Base58)
		page.ClickElement("[data-wallet-list] li:last-child button")
		signed := change(string(runTronWallet(t, "sign", []byte(readTronQuestion(page)))))
		page.AwaitPage(func() { answerTron(page, signed) })
		if text := page.ReadText("main"); !strings.Contains(text, words) {
			t.Fatalf("what the wallet signed is answered by %q, want %q", text, words)
		}
		return signed
	}
	sign(func(signed string) string {
		to := readPayee(t, signed)
		return strings.ReplaceAll(signed, to, strings.Repeat("ab", 20))
	}, "this is not the approved send")
	page.TakeShot("send-tron-differs")
	page.Open(i.Base + "/dashboard/sends/" + asked.ID + "/sign")
	page.WaitForElement("[data-wallet]:not([hidden])")
	if sent := node.listSent(); len(sent) > 0 {
		t.Fatalf("the node was handed %v, want nothing yet", sent)
	}
	signed := sign(func(signed string) string { return signed }, "Checked and given to the network")
	var made struct {
		ID  string `json:"txID"`
		Raw string `json:"raw_data_hex"`
	}
	if err := json.Unmarshal([]byte(signed), &made); err != nil {
		t.Fatal(err)
	}
	sent := node.listSent()
	if len(sent) != 1 || !strings.Contains(sent[0], made.Raw) {
		t.Fatalf("the node was handed %v, want the transaction %s", sent, made.Raw)
	}
	to := readPayee(t, made.Raw)
	node.mine(tronTransfer{id: made.ID, raw: made.Raw, from: strings.TrimPrefix(paying.Hex, "41"), to: to, amount: 25_000_000})
	node.mine(make([]tronTransfer, 40)...)
	var done sentRecord
	harness.WaitFor(t, 2*time.Minute, "a send that is successful", func() bool {
		i.SendRequest("GET", "/v1/sends/"+asked.ID, nil, 200).DecodeData(t, &done)
		return done.Status == "successful"
	})
	if done.Hash != made.ID {
		t.Errorf("%+v, want the transaction %s", done, made.ID)
	}
	if page.Open(i.Base+"/dashboard/sends/"+asked.ID) != 200 || !strings.Contains(page.ReadText("main"), "6.500000 TRX") {
		t.Errorf("the page says %q, want the fee of 6.5 TRX", page.ReadText("main"))
	}
}

// readPayee returns the account that the calldata in a transaction's raw data pays, in 40 hex digits.
func readPayee(t *testing.T, raw string) string {
	t.Helper()
	_, data, ok := strings.Cut(raw, "a9059cbb"+strings.Repeat("0", 24))
	if !ok || len(data) < 40 {
		t.Fatalf("%s calls no transfer", raw)
	}
	return data[:40]
}
