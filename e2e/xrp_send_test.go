package e2e

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// runXRPWallet has xrpl.js name its address, or sign a transaction.
func runXRPWallet(t *testing.T, act string, input []byte) string {
	t.Helper()
	wallet := exec.Command("node", "xrp_wallet.mjs", act)
	wallet.Stdin = bytes.NewReader(input)
	var problem bytes.Buffer
	wallet.Stderr = &problem
	output, err := wallet.Output()
	if err != nil {
		t.Fatalf("xrpl.js doesn't %s %s: %v %s", act, input, err, problem.String())
	}
	return strings.TrimSpace(string(output))
}

// TestXRPRefund (SD-7): a payment is refunded from the merchant's account with a tag. What differs from the
// approval isn't sent, and another's payment of the same amount to the same tag pays no send.
func TestXRPRefund(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "0s", false, "ws://HOST")
	x.enter(x.account)
	paying, customer := runXRPWallet(t, "address", nil), classic("the customer of "+t.Name())
	x.ledger.do("create", harness.Fields{"To": paying, "Amount": 900_000_000, "Flags": 0})
	x.fund(customer, mustTag)
	o := x.order()
	x.pay(o, o.due, nil)
	x.ledger.do("close", nil)
	x.reach(o.order, "successful", "")

	var asked sentRecord
	x.SendRequest("POST", "/v1/sends", harness.Fields{"kind": "refund", "payment_reference": o.Reference, "address": customer,
		"tag": 77}, 201).DecodeData(t, &asked)
	x.SendRequest("POST", "/v1/sandbox/sends/"+asked.ID+"/approve", harness.Fields{}, 200)
	x.ledger.do("pay", harness.Fields{"To": customer, "Tag": 77, "Amount": o.due}) // another's
	x.ledger.do("close", nil)

	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, x.Instance)
	page.Open(x.Base + "/dashboard/sends/wallets")
	page.FillField("input[name=address]", paying)
	page.FillField("form[action$='/wallets'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/wallets'] button[type=submit]")
	at := x.Base + "/dashboard/sends/" + asked.ID + "/sign"
	page.Open(at)
	page.FollowLink("form[action$='/sign'] button[type=submit]")
	unsigned := download(t, page, at+"?file=unsigned.json")
	submit := func(signed string) string {
		page.Open(at)
		page.PasteText("textarea[name=signed]", signed)
		page.FollowLink("form[action$='/check'] button[type=submit]")
		return page.ReadText("main")
	}
	other := strings.Replace(unsigned, `"DestinationTag":77`, `"DestinationTag":78`, 1)
	if text := submit(runXRPWallet(t, "sign", []byte(other))); other == unsigned || !strings.Contains(text, "this is not the approved send") ||
		!strings.Contains(text, "78") {
		t.Errorf("a transaction with another tag is answered by %q", text)
	}
	if text := submit(runXRPWallet(t, "sign", []byte(unsigned))); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	x.ledger.do("close", nil)
	var done sentRecord
	harness.WaitFor(t, time.Minute, "a send that is successful", func() bool {
		x.SendRequest("GET", "/v1/sends/"+asked.ID, nil, 200).DecodeData(t, &done)
		return done.Status == "successful"
	})
	if done.Hash == "" || page.Open(x.Base+"/dashboard/sends/"+asked.ID) != 200 || strings.Contains(page.ReadText("main"), "paid twice") {
		t.Errorf("%+v: %s", done, page.ReadText("main"))
	}
}
