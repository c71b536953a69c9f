package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// announceWallet has a page find a wallet in the browser (EIP-6963). The wallet's answers come from the test: the page
// may connect to its own server only.
func announceWallet(page *browser.Page) {
	_ = browser.ReadValue(page, chromedp.Evaluate[bool](`(() => {
		window.asked = [];
		const provider = { request: (r) => new Promise((done, failed) => window.asked.push({ r, done, failed })) };
		window.announce = (name) => dispatchEvent(new CustomEvent("eip6963:announceProvider",
			{ detail: { info: { uuid: name, name, rdns: "example.wallet", icon: "" }, provider } }));
		announce("<b>Test wallet</b>");
		return true;
	})()`))
}

// answerWallet answers the next question that a page asks its wallet, and returns the question's parameters. The page
// gets the answer later: it may go to another page for it.
func answerWallet(t *testing.T, page *browser.Page, method string, result any) json.RawMessage {
	t.Helper()
	params := readQuestion(t, page, method)
	said, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	_ = browser.ReadValue(page, chromedp.Evaluate[bool](
		`(() => { const one = window.asked.shift(); setTimeout(() => one.done(`+string(said)+`)); return true; })()`))
	return params
}

// readQuestion waits for the next question that a page asks its wallet, and returns the parameters.
func readQuestion(t *testing.T, page *browser.Page, method string) json.RawMessage {
	t.Helper()
	page.WaitForExpression(`window.asked.length > 0`)
	var r struct {
		Method string
		Params json.RawMessage
	}
	text := browser.ReadValue(page, chromedp.Evaluate[string](`JSON.stringify(window.asked[0].r)`))
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Method != method {
		t.Fatalf("the page asks the wallet for %s, want %s", text, method)
	}
	return r.Params
}

// TestKeyIsProvedInBrowser: a wallet in the browser signs the message that proves the key of one address, and the page
// puts the signature into the form. ethers signs.
func TestKeyIsProvedInBrowser(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), false, "http://HOST?stream=ws://WS")
	holder := x.node.AccountAddress(payingAccount)
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	enter(page, x.Instance)
	page.Open(x.Base + "/dashboard/methods/crypto_tether/wallet")
	page.PasteText("[name=key]", holder)
	page.FollowLink("main form[action$='/review'] button[type=submit]")
	page.FillField("input[name=password]", harness.Password)
	page.FollowLink("main form[action$='/wallet'] button[type=submit]")
	page.WaitForElement("[data-wallet]:not([hidden])")
	announceWallet(page)
	page.CheckPage()
	page.ClickElement("[data-wallet-list] button")
	answerWallet(t, page, "eth_requestAccounts", []string{"0x8617E340B3D01FA5F11F306F4090FD50E238070D"})
	page.WaitForElement("[data-wallet-note=account]:not([hidden])")
	page.ClickElement("[data-wallet-list] button")
	answerWallet(t, page, "eth_requestAccounts", []string{strings.ToLower(holder)})
	var asked []string
	if err := json.Unmarshal(readQuestion(t, page, "personal_sign"), &asked); err != nil || len(asked) != 2 ||
		!strings.EqualFold(asked[1], holder) {
		t.Fatalf("the wallet is asked to sign %v, want a message for %s", asked, holder)
	}
	message, err := json.Marshal(asked[0])
	if err != nil {
		t.Fatal(err)
	}
	answerWallet(t, page, "personal_sign", signEther(t, "--message", message))
	page.WaitForElement("[data-wallet-note=signed]:not([hidden])")
	page.TakeShot("wallet-proof-signed")
	page.FillField("form[action$='/prove'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/prove'] button[type=submit]")
	page.CheckPage()
	page.TakeShot("wallet-proved")
	if text := page.ReadText("main"); !strings.Contains(text, "Key proved on") {
		t.Errorf("the page says %q, want that the key is proved", text)
	}
}
