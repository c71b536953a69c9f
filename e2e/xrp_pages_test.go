package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

const xrpWallet = "/dashboard/methods/crypto_ripple/wallet"

// TestXRPSetUp sets an account up in the dashboard, as an owner with a browser
// does, and has a customer pay to it.
func TestXRPSetUp(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "1s", false, "ws://HOST", "http://HOST")
	closed := classic("closed " + t.Name())
	x.fund(closed, noStrangers)
	open := classic("open " + t.Name())
	x.fund(open, 0)
	chromium := browser.StartShared(t)
	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) {
			page := chromium.OpenTab(t, view)
			enter(page, x.Instance)
			look(t, page, x.Base, "/dashboard/methods", "xrp-none-"+name)
			look(t, page, x.Base, xrpWallet, "xrp-none-"+name)
			review := func(account, element, says, shot string) {
				t.Helper()
				page.Open(x.Base + xrpWallet)
				page.FillField("input[name=key]", account)
				page.ClickElement("form[action='" + xrpWallet + "/review'] button.btn-primary")
				page.WaitForElement(element)
				if text := page.ReadText("main"); !strings.Contains(text, says) {
					t.Errorf("the page lacks %q: %s", says, text)
				}
				page.TakeShot(shot + "-" + name)
				for _, fault := range page.ListFaults() {
					if !strings.Contains(fault, "422") { // the browser complains of the status
						t.Errorf("%s: %s", shot, fault)
					}
				}
			}
			review(closed, "[aria-invalid=true]", "Deposit Authorization", "xrp-closed")
			review(classic("nobody"), "[aria-invalid=true]", "does not exist", "xrp-missing")
			review(open, "input[name=password]", "Payments without a tag are accepted", "xrp-open")
			review(x.account, "input[name=password]", "refused by the network, as recommended", "xrp-review")
		})
	}
	page := chromium.OpenTab(t, browser.Phone)
	enter(page, x.Instance)
	page.Open(x.Base + xrpWallet)
	page.FillField("input[name=key]", x.account)
	page.FollowLink("form[action='" + xrpWallet + "/review'] button.btn-primary")
	page.FillField("input[name=password]", harness.Password)
	page.ClickElement("form[action='" + xrpWallet + "'] button.btn-primary")
	page.WaitForElement("form[action='" + xrpWallet + "/review'] input[type=hidden][name=key]")
	if text := page.ReadText("main"); !strings.Contains(text, "0 destination tags") {
		t.Errorf(`page.Text("main"): text = %v`, text)
	}
	x.available(true)

	o := x.order()
	for name, view := range chooseViews() {
		seen := chromium.OpenTab(t, view)
		seen.Open(o.URL)
		seen.WaitForElement("#payment-state[data-view=waiting]")
		seen.WaitForElement("#tag-required")
		seen.TakeShot("xrp-checkout-" + name)
		seen.CheckPage()
	}
	customer := chromium.OpenTab(t, browser.Phone)
	customer.Open(o.URL)
	customer.WaitForElement("#payment-state[data-view=waiting]")
	x.pay(o, o.due, nil)
	closing := time.Now()
	x.ledger.do("close", nil)
	customer.WaitForElement("#payment-state[data-view=successful]")
	t.Logf("Successful in the browser %s after the ledger closed", time.Since(closing).Round(time.Millisecond))
	customer.TakeShot("xrp-checkout-successful")
	customer.CheckPage()
	for name, view := range chooseViews() {
		after := chromium.OpenTab(t, view)
		enter(after, x.Instance)
		look(t, after, x.Base, xrpWallet, "xrp-set-"+name)
		look(t, after, x.Base, "/dashboard/methods", "xrp-set-"+name)
		look(t, after, x.Base, "/dashboard/payments/"+o.Reference, "xrp-"+name)
	}
}

// TestXRPUnmatched (XRP-2, XRP-3, XRP-4, XRP-6): everything else that comes is listed
// under Unmatched with its reason, and alerted of; the payment stays as it was.
func TestXRPUnmatched(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "1s", false, "ws://HOST")
	x.fund(classic("elsewhere"), 0)
	x.enter(classic("elsewhere"))
	foreign := x.order() // its tag belongs to the former account
	x.enter(x.account)
	o := x.order()
	pay := func(tag any) string {
		return x.ledger.do("pay", harness.Fields{"To": x.account, "Tag": tag, "Amount": o.due}).ID
	}
	want := map[string]string{
		pay(nil): "No destination tag", pay(0): "Unknown destination tag", pay(o.tag ^ 1<<31): "Unknown destination tag", pay(foreign.tag): "Unknown destination tag",
		x.ledger.do("issue", harness.Fields{"To": x.account, "Tag": o.tag, "Currency": "USD", "Value": "1000"}).ID: "Wrong asset",
	}
	for _, kind := range []string{"EscrowFinish", "CheckCash", "PaymentChannelClaim", "AccountDelete"} {
		want[x.ledger.do("otherwise", harness.Fields{"Kind": kind, "To": x.account, "Tag": o.tag, "Amount": o.due}).ID] = "Not an ordinary payment"
	}
	x.pay(o, o.due, harness.Fields{"Result": "tecPATH_DRY"})
	x.ledger.do("close", nil)
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	enter(page, x.Instance)
	shows(t, page, x.Base+"/dashboard", fmt.Sprintf("%d unmatched transfers", len(want)))
	page.Open(x.Base + "/dashboard/unmatched")
	page.TakeShot("xrp-unmatched")
	for id, reason := range want {
		row := browser.ReadValue(page, chromedp.Evaluate[string](fmt.Sprintf(`[...document.querySelectorAll("tr")].find(r => r.innerHTML.includes(%q))?.innerText ?? ""`, id)))
		if !strings.Contains(row, reason) {
			t.Errorf("%s is listed as %q, want %q", id, row, reason)
		}
	}
	if record := x.VerifyPayment(o.Reference); record.Status != "initiated" || record.Transaction.AmountPaid != "0.00" {
		t.Errorf("%+v", record)
	}
	x.pay(o, o.due, nil)
	x.pay(foreign, foreign.due, nil) // to the former account, which is watched
	x.ledger.do("close", nil)
	x.reach(o.order, "successful", "")
	x.reach(foreign.order, "successful", "")
}
