package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// safeWallet is a Safe on the network, with the contract that makes several calls for it.
type safeWallet struct{ Safe, MultiSend string }

// runSafe runs a program that owns a Safe.
func (x *etherTill) runSafe(file []byte, arguments ...string) string {
	x.t.Helper()
	program := exec.Command("node", append([]string{"safe.mjs", "http://" + x.node.HTTP}, arguments...)...)
	program.Stdin = bytes.NewReader(file)
	var problem bytes.Buffer
	program.Stderr = &problem
	out, err := program.Output()
	if err != nil {
		x.t.Fatalf("safe.mjs %v: %v %s", arguments, err, problem.String())
	}
	return strings.TrimSpace(string(out))
}

// downloadSafe downloads the file for a Safe that pays sends.
func (x *etherTill) downloadSafe(page *browser.Page, safe string, ids ...string) []byte {
	x.t.Helper()
	at := x.Base + "/dashboard/sends/safe"
	page.Open(at)
	value := func(name string) string {
		return browser.ReadValue(page, chromedp.Evaluate[string](`document.querySelector("form[action$='/safe'] [name=`+name+`]").value`))
	}
	wallet := browser.ReadValue(page, chromedp.Evaluate[string](
		`[...document.querySelectorAll("select[name=account] option")].map((o) => o.value).join(" ")`))
	if !strings.EqualFold(wallet, safe) {
		x.t.Fatalf("the page offers the wallets %q, want the Safe %s", wallet, safe)
	}
	form := url.Values{"csrf": {value("csrf")}, "network": {value("network")}, "account": {wallet}, "send": ids}
	request, err := http.NewRequest(http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		x.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", x.Base)
	for name, value := range page.ReadCookies() {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		x.t.Fatal(err)
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 || !strings.Contains(answer.Header.Get("Content-Disposition"), "safe.json") {
		x.t.Fatalf("the file for the Safe is answered by %s, %v: %s", answer.Status, err, file)
	}
	return file
}

// TestASafePaysFromItsFile (SD-15): a Safe of two owners, made of the contracts that its makers publish, executes the file
// of two refunds, in USDT and in ether, by one transaction. Executed again it pays both again, which is shown.
func TestASafePaysFromItsFile(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), false, "http://HOST?stream=ws://WS&trace=blocks")
	const customer = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	tokens, ethers := x.order(inUSDT, 25), x.order(inEther, 30)
	hashes := map[string]string{tokens.Reference: x.token(tokens, tokens.due), ethers.Reference: x.ether(ethers, ethers.due)}
	x.mined()
	for _, o := range []etherOrder{tokens, ethers} {
		x.paid(o, hashes[o.Reference])
	}
	var wallet safeWallet
	if err := json.Unmarshal([]byte(x.runSafe(nil, "deploy")), &wallet); err != nil {
		t.Fatal(err)
	}
	twice := func(n *big.Int) *big.Int { return new(big.Int).Mul(n, big.NewInt(2)) }
	x.call("transfer(address,uint256)", wallet.Safe, twice(tokens.due))
	x.node.SendTransaction(evm.Tx{To: wallet.Safe, Value: twice(ethers.due)})
	x.node.Mine(1)

	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, x.Instance)
	x.registerWallet(page, strings.ToLower(wallet.Safe))
	ids := []string{x.refundApproved(tokens, customer), x.refundApproved(ethers, customer)}
	file := x.downloadSafe(page, wallet.Safe, ids...)
	hash := x.runSafe(file, "execute", wallet.Safe, wallet.MultiSend)
	for _, id := range ids {
		x.reachSend(id, "processing")
	}
	x.mined()
	for _, id := range ids {
		if done := x.reachSend(id, "successful"); done.Hash != hash {
			t.Errorf("%+v, want the Safe's transaction %s", done, hash)
		}
	}
	var ether string
	x.node.Call("eth_getBalance", &ether, customer, "latest")
	if got, _ := new(big.Int).SetString(strings.TrimPrefix(ether, "0x"), 16); got.Cmp(ethers.due) != 0 {
		t.Errorf("the customer has %s wei, want %s", got, ethers.due)
	}

	second := x.runSafe(file, "execute", wallet.Safe, wallet.MultiSend)
	x.mined()
	for _, id := range ids {
		harness.WaitFor(t, time.Minute, "a send that was paid twice", func() bool {
			var flags struct {
				PaidTwice bool `json:"paid_twice"`
			}
			x.SendRequest("GET", "/v1/sends/"+id, nil, 200).DecodeData(t, &flags)
			return flags.PaidTwice
		})
		page.Open(x.Base + "/dashboard/sends/" + id)
		if text := page.ReadText("main"); !strings.Contains(text, second) {
			t.Errorf("the page of a send that was paid twice says %q, want the second transaction %s", text, second)
		}
	}
}
