package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
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

// etherKeyPath is the account whose public key is etherKey.
const etherKeyPath = "m/44'/60'/7'"

// collected is one transaction of a file of a collection, as far as it is compared.
type collected struct {
	From, To, Coin, Amount string
	Transaction            struct{ Value, Nonce string }
}

// TestMoneyIsCollected pays six addresses of an account key in USDT and ether, one of them with less than moving it
// costs, downloads the unsigned files without JavaScript, signs them in their order with ethers, by the paths in them,
// and sends them: the destination has everything else, and the page said what stays.
func TestMoneyIsCollected(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), false, "http://HOST?stream=ws://WS")
	treasury, payer := "0x8617E340B3D01FA5F11F306F4090FD50E238070D", x.node.AccountAddress(payingAccount)
	tokens, dust := new(big.Int), big.NewInt(10_000)
	var given []string
	for _, usd := range []int{25, 40, 30} {
		o := x.order(inUSDT, usd)
		x.token(o, o.due)
		tokens.Add(tokens, o.due)
		given = append(given, o.address)
		if usd == 30 { // this address has ether, too
			x.ether(o, big.NewInt(2e16))
		}
	}
	for _, usd := range []int{25, 60} {
		o := x.order(inEther, usd)
		x.ether(o, o.due)
		given = append(given, o.address)
	}
	poor := x.order(inUSDT, 25)
	x.token(poor, dust)
	x.mined()

	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, x.Instance)
	at := x.Base + "/dashboard/methods/crypto_tether/wallet"
	page.Open(at + "/sweep")
	page.FillField("form[action$='/collect'] input[name=address]", strings.ToLower(treasury))
	page.FillField("form[action$='/collect'] input[name=gas]", payer)
	page.TakeShot("collect-form")
	page.FollowLink("form[action$='/collect'] button[type=submit]")
	page.TakeShot("collect-plan")
	page.CheckPage()
	left := browser.ReadValue(page, chromedp.Evaluate[string](
		`[...document.querySelectorAll("#left ~ * tbody tr, section[aria-labelledby=left] tbody tr")].map((r) => r.innerText).join("\n")`))
	if strings.Count(left, "0x") != 1 || !strings.Contains(left, poor.address) || !strings.Contains(left, "0.01 USDT") ||
		!strings.Contains(left, "costs more than it is worth") {
		t.Errorf("the page says that %q stays, want only 0.01 USDT at %s", left, poor.address)
	}

	files := x.downloadCollection(page, at+"/collect")
	if len(files) != 4 || !strings.Contains(files["README.txt"], treasury) || !strings.Contains(files["README.txt"], poor.address) {
		t.Fatalf("the archive has %d files, want the README and three steps: %s", len(files), files["README.txt"])
	}
	for _, step := range []struct{ file, path string }{{"1-gas.json", "m/44'/60'/0'/0/" + itoa(payingAccount)},
		{"2-usdt.json", etherKeyPath}, {"3-eth.json", etherKeyPath}} {
		for _, raw := range x.signCollected(files[step.file], step.path) {
			var hash string
			x.node.Call("eth_sendRawTransaction", &hash, raw)
			x.node.Mine(1)
			if !x.node.HasSucceeded(hash) {
				t.Errorf("transaction %s of %s failed", hash, step.file)
			}
		}
	}
	if got := x.readTokens(treasury); got.Cmp(tokens) != 0 {
		t.Errorf("the destination has %s of USDT, want %s", got, tokens)
	}
	ethers, fees := new(big.Int), new(big.Int)
	for _, one := range readCollected(t, files["3-eth.json"]) {
		value, _ := new(big.Int).SetString(one.Transaction.Value, 10)
		ethers.Add(ethers, value)
	}
	if got := x.readEther(treasury); got.Cmp(ethers) != 0 || ethers.Sign() == 0 {
		t.Errorf("the destination has %s wei, want %s", got, ethers)
	}
	// What is left of the ether is what the fees were below their highest.
	highest := big.NewInt(1e15)
	for n, address := range append(given, poor.address) {
		fees.Add(fees, x.readEther(address))
		want := new(big.Int)
		if address == poor.address {
			want = dust
		}
		if got := x.readTokens(address); got.Cmp(want) != 0 || x.readEther(address).Cmp(highest) > 0 {
			t.Errorf("address %d has %s of USDT and %s wei, want %s and next to nothing", n, got, x.readEther(address), want)
		}
	}
	t.Logf("%s wei arrived, %s stay as fees that were not used", ethers, fees)

	x.mined()
	x.expectBooks(map[string][2]*big.Rat{"USDT": {inWhole(tokens, 6), inWhole(dust, 6)}, "ETH": {nil, inWhole(fees, 18)}})
}

// inWhole returns an amount in smallest units as one of whole coins.
func inWhole(units *big.Int, decimals int64) *big.Rat {
	return new(big.Rat).SetFrac(units, new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
}

// expectBooks waits until the statement has what the owner moved, if that is named, and in the wallet what the addresses
// hold on the network.
func (x *etherTill) expectBooks(want map[string][2]*big.Rat) {
	x.t.Helper()
	var s struct {
		Coins []struct {
			Coin, Closing string
			Moved         string `json:"moved_by_owner"`
		}
	}
	agrees := func() bool {
		x.SendRequest("GET", "/v1/statements/2026-01-01..2099-12-31", nil, 200).DecodeData(x.t, &s)
		found := 0
		for _, c := range s.Coins {
			moved, _ := new(big.Rat).SetString(c.Moved)
			closing, _ := new(big.Rat).SetString(c.Closing)
			of, named := want[c.Coin]
			if named && (of[0] == nil || moved.Cmp(of[0]) == 0) && closing.Cmp(of[1]) == 0 {
				found++
			}
		}
		return found == len(want)
	}
	defer func() { x.t.Logf("the statement has %+v", s.Coins) }()
	harness.WaitFor(x.t, time.Minute, fmt.Sprintf("the statement to have moved and closing %v", want), agrees)
}

// readCollected reads a file of a collection.
func readCollected(t *testing.T, text string) (list []collected) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return list
}

// signCollected has ethers sign a file of a collection.
func (x *etherTill) signCollected(file, path string) []string {
	x.t.Helper()
	wallet := exec.Command("node", "collect.mjs", path)
	wallet.Stdin = strings.NewReader(file)
	var problem bytes.Buffer
	wallet.Stderr = &problem
	signed, err := wallet.Output()
	if err != nil {
		x.t.Fatalf("ethers doesn't sign %s: %v %s", file, err, problem.String())
	}
	return strings.Fields(string(signed))
}

// downloadCollection sends the form of the plan that a page shows, and reads the archive by the names of its files.
func (x *etherTill) downloadCollection(page *browser.Page, at string) map[string]string {
	x.t.Helper()
	text := browser.ReadValue(page, chromedp.Evaluate[string](
		`new URLSearchParams(new FormData(document.querySelector("form[action$='/collect'][method=post]"))).toString()`))
	form, err := url.ParseQuery(text)
	if err != nil {
		x.t.Fatal(err)
	}
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
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		x.t.Fatalf("the form is answered by %s, %v: %s", answer.Status, err, content)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		x.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		opened, err := f.Open()
		if err != nil {
			x.t.Fatal(err)
		}
		text, err := io.ReadAll(opened)
		if err != nil {
			x.t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// readTokens returns the USDT at an address, in the contract's unit.
func (x *etherTill) readTokens(address string) *big.Int {
	x.t.Helper()
	var held string
	x.node.Call("eth_call", &held, map[string]string{"to": x.usdt,
		"data": "0x70a08231" + strings.Repeat("0", 24) + strings.ToLower(address[2:])}, "latest")
	amount, _ := new(big.Int).SetString(strings.TrimPrefix(held, "0x"), 16)
	return amount
}

// readEther returns the wei at an address.
func (x *etherTill) readEther(address string) *big.Int {
	x.t.Helper()
	var held string
	x.node.Call("eth_getBalance", &held, address, "latest")
	amount, _ := new(big.Int).SetString(strings.TrimPrefix(held, "0x"), 16)
	return amount
}
