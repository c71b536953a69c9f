package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// payingAccount is anvil's account that sends are paid from; it is none of the customers'.
const payingAccount = 3

// signEther has ethers sign a transaction.
func signEther(t *testing.T, form string, unsigned []byte) string {
	t.Helper()
	wallet := exec.Command("node", "wallet.mjs", itoa(payingAccount), form)
	wallet.Stdin = bytes.NewReader(unsigned)
	var problem bytes.Buffer
	wallet.Stderr = &problem
	signed, err := wallet.Output()
	if err != nil {
		t.Fatalf("ethers doesn't sign %s: %v %s", unsigned, err, problem.String())
	}
	return strings.TrimSpace(string(signed))
}

// sentRecord is what the API says of a send.
type sentRecord struct{ ID, Status, Hash, Amount string }

func (x *etherTill) readSend(id string) (r sentRecord) {
	x.t.Helper()
	x.SendRequest("GET", "/v1/sends/"+id, nil, 200).DecodeData(x.t, &r)
	return r
}

func (x *etherTill) reachSend(id, status string) (r sentRecord) {
	x.t.Helper()
	harness.WaitFor(x.t, time.Minute, "a send that is "+status, func() bool {
		r = x.readSend(id)
		return r.Status == status
	})
	return r
}

// refundApproved asks for a refund of all of an order, and approves it.
func (x *etherTill) refundApproved(o etherOrder, to string) string {
	x.t.Helper()
	var asked sentRecord
	x.SendRequest("POST", "/v1/sends", harness.Fields{"kind": "refund", "payment_reference": o.Reference, "address": to}, 201).
		DecodeData(x.t, &asked)
	x.SendRequest("POST", "/v1/sandbox/sends/"+asked.ID+"/approve", harness.Fields{}, 200)
	return asked.ID
}

// registerWallet registers the account that sends are paid from, on Ethereum where there are more networks.
func (x *etherTill) registerWallet(page *browser.Page, address string) {
	page.Open(x.Base + "/dashboard/sends/wallets")
	page.ChooseOption("select[name=network]", "ethereum-chain-"+itoa(int64(x.node.ChainID)))
	x.submitWallet(page, address)
}

// submitWallet registers an account on the network that the form names.
func (x *etherTill) submitWallet(page *browser.Page, address string) {
	page.FillField("input[name=address]", address)
	page.FillField("form[action$='/wallets'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/wallets'] button[type=submit]")
	if text := page.ReadText("main"); !strings.Contains(strings.ToLower(text), address) {
		x.t.Fatalf("the wallet isn't registered: %s", text)
	}
}

// TestEtherRefunds (SD-7, WH-1): a payment in USDT and one in ether are refunded from the merchant's own wallet,
// by a file without JavaScript and by a wallet in the browser. What differs from the approval isn't sent.
func TestEtherRefunds(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), false, "http://HOST?stream=ws://WS")
	paying, customer := x.node.AccountAddress(payingAccount), "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	tokens, ethers := x.order(inUSDT, 25), x.order(inEther, 30)
	secret, came := listenToSends(t, x.Instance)
	hashes := map[string]string{tokens.Reference: x.token(tokens, tokens.due), ethers.Reference: x.ether(ethers, ethers.due)}
	x.call("transfer(address,uint256)", paying, new(big.Int).Mul(tokens.due, big.NewInt(3)))
	x.mined()
	for _, o := range []etherOrder{tokens, ethers} {
		x.paid(o, hashes[o.Reference])
	}

	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, x.Instance)
	id := x.refundApproved(tokens, customer)
	at := x.Base + "/dashboard/sends/" + id
	page.Open(at + "/sign")
	if text := page.ReadText("main"); !strings.Contains(text, "Register the wallet that pays first") {
		t.Errorf("without a wallet the page says %q", text)
	}
	x.registerWallet(page, paying)
	page.Open(at)
	page.FollowLink("a[href$='/sign']")
	page.FollowLink("form[action$='/sign'] button[type=submit]")
	unsigned := []byte(download(t, page, at+"/sign?file=unsigned.json"))
	page.TakeShot("send-sign")
	page.CheckPage()

	forged := strings.Replace(string(unsigned), strings.ToLower(customer[2:]), strings.ToLower(paying[2:]), 1)
	if forged == string(unsigned) {
		t.Fatalf("the file %s doesn't name the customer's address", unsigned)
	}
	submit := func(signed string) string {
		page.Open(at + "/sign")
		page.PasteText("textarea[name=signed]", signed)
		page.FollowLink("form[action$='/check'] button[type=submit]")
		return page.ReadText("main")
	}
	if text := submit(signEther(t, "--file", []byte(forged))); !strings.Contains(text, "this is not the approved send") ||
		!strings.Contains(text, "\nTo\t") || !strings.Contains(strings.ToLower(text), strings.ToLower(customer)) {
		t.Errorf("a transaction to another address is answered by %q", text)
	}
	page.TakeShot("send-differs")
	for _, fault := range page.CheckAccessibility() { // the console notes the status of a refused form
		t.Errorf("the page of a refused transaction: %s", fault)
	}
	if text := submit("0x02"); !strings.Contains(text, "Is not a signed transaction") {
		t.Errorf("what is no transaction is answered by %q", text)
	}
	if r := x.readSend(id); r.Status != "ready" || x.node.CountSent(payingAccount) != 0 {
		t.Fatalf("%+v, and the wallet sent %d transactions", r, x.node.CountSent(payingAccount))
	}
	if text := submit(signEther(t, "--file", unsigned)); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	x.node.Mine(1)
	seen := x.reachSend(id, "processing")
	x.node.Mine(etherDepth - 1)
	if done := x.reachSend(id, "successful"); done.Hash != seen.Hash || !x.node.HasSucceeded(done.Hash) {
		t.Errorf("%+v, want the transaction %s", done, seen.Hash)
	}
	verifySendEvents(t, secret, id, seen.Hash, came, "send.processing", "send.processed", "send.successful")
	var held string
	x.node.Call("eth_call", &held, map[string]string{"to": x.usdt, "data": "0x70a08231" + strings.Repeat("0", 24) + strings.ToLower(customer[2:])}, "latest")
	if got, _ := new(big.Int).SetString(strings.TrimPrefix(held, "0x"), 16); got.Cmp(tokens.due) != 0 {
		t.Errorf("the customer has %s of USDT, want %s", got, tokens.due)
	}

	x.refundInBrowser(x.refundApproved(ethers, customer), paying)
	harness.WaitFor(t, time.Minute, "the events of the refund", func() bool {
		x.hooks.mu.Lock()
		defer x.hooks.mu.Unlock()
		told := map[string]bool{}
		for _, body := range x.hooks.bodies {
			for _, event := range []string{"send.processing", "send.processed", "send.successful"} {
				if strings.Contains(body, `"`+event+`"`) && strings.Contains(body, id) {
					told[event] = true
				}
			}
		}
		return len(told) == 3
	})
}

// refundInBrowser signs a send with a wallet that the browser announces (EIP-6963).
func (x *etherTill) refundInBrowser(id, paying string) {
	x.t.Helper()
	page := browser.StartShared(x.t).OpenTab(x.t, views["desktop"])
	enter(page, x.Instance)
	page.Open(x.Base + "/dashboard/sends/" + id + "/sign")
	page.ClickElement("form[action$='/sign'] button[type=submit]")
	page.WaitForElement("[data-wallet]:not([hidden])")
	announceWallet(page)
	// The page is older than what the server says of the send: it is loaded again, and the wallet is asked for nothing.
	browser.ReadValue(page, chromedp.Evaluate[string](`document.querySelector("[data-wallet]").dataset.walletGiven = "earlier"`))
	page.ClickElement("[data-wallet-list] button")
	page.WaitForElement("[data-wallet][data-wallet-given='']:not([hidden])")
	announceWallet(page)
	answer := func(method string, result any) { answerWallet(x.t, page, method, result) }
	page.ClickElement("[data-wallet-list] button")
	answer("eth_requestAccounts", []string{"0x8617E340B3D01FA5F11F306F4090FD50E238070D"})
	page.WaitForElement("[data-wallet-note=account]:not([hidden])")
	page.ClickElement("[data-wallet-list] button")
	answer("eth_requestAccounts", []string{strings.ToLower(paying)})
	answer("eth_chainId", "0x1")
	answer("wallet_switchEthereumChain", nil)
	answer("eth_chainId", "0x1") // it says that it switched, and did not
	page.WaitForElement("[data-wallet-note=chain]:not([hidden])")
	page.ClickElement("[data-wallet-list] button")
	answer("eth_requestAccounts", []string{strings.ToLower(paying)})
	answer("eth_chainId", "0x1")
	answer("wallet_switchEthereumChain", nil)
	answer("eth_chainId", fmt.Sprintf("0x%x", x.node.ChainID))
	var request []json.RawMessage
	params := readQuestion(x.t, page, "eth_sendTransaction")
	if err := json.Unmarshal(params, &request); err != nil || len(request) != 1 {
		x.t.Fatalf("the wallet is asked for %s", params)
	}
	var hash string
	x.node.Call("eth_sendRawTransaction", &hash, signEther(x.t, "--request", request[0]))
	answer("eth_sendTransaction", hash)
	page.WaitForElement("main:not(:has([data-wallet-given='']))")
	if text := page.ReadText("body"); !strings.Contains(text, "The wallet sent the transaction.") {
		x.t.Errorf("after the wallet sent the transaction the page says %q", text)
	}
	page.TakeShot("send-browser-wallet")
	page.CheckPage()
	x.mined()
	if done := x.reachSend(id, "successful"); done.Hash != hash {
		x.t.Errorf("%+v, want the transaction %s", done, hash)
	}
}
