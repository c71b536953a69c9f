package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestWithoutScript does everything that a new merchant does, from the first
// page on and with JavaScript off, by links and buttons alone: signs up, makes
// a payment link, is paid by it, finds the payment, exports it, and switches a
// webhook off and on again. Each page on the way is looked at.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Plain)
	public := withoutScriptLink(t, i, page)

	customer := chromium.OpenTab(t, browser.View{Width: 390, Height: 844, NoScript: true})
	customer.Open(i.Base + public)
	customer.ClickElement("input[value=crypto_ripple]")
	customer.FillField("input[name=first_name]", "Amina")
	customer.FillField("input[name=last_name]", "Bello")
	customer.FillField("input[name=email]", "amina@example.com")
	customer.FollowLink("main form button[type=submit]")
	customer.FollowLink("main form[action*='/open'] button")
	lookWithoutScript(t, customer)
	customer.FollowLink("[name=scenario][value=exact]")
	shows(t, customer, customer.CurrentAddress(), "Paid")
	lookWithoutScript(t, customer)

	withoutScriptSearch(t, i, page)
	withoutScriptWebhook(t, i, page)
}

// lookWithoutScript looks at the payment page, which loads itself anew where no
// script follows the payment: how else would it come to what has changed?
func lookWithoutScript(t *testing.T, page *browser.Page) {
	t.Helper()
	for _, fault := range page.ListFaults() {
		if !strings.Contains(fault, "meta-refresh") {
			t.Errorf("the payment page: %s", fault)
		}
	}
}

// withoutScriptLink signs up and makes a payment link, and gives its public address.
func withoutScriptLink(t *testing.T, i *harness.Instance, page *browser.Page) string {
	t.Helper()
	page.Open(i.Base + "/")
	page.FillField("input[name=business_name]", "Ama's Shop")
	page.FillField("input[name=name]", "Ama Mensah")
	page.FillField("input[name=email]", "ama@shop") // which browsers let through
	page.FillField("input[name=password]", harness.Password)
	if status := page.FollowLink("main form button[type=submit]"); status != 422 || !strings.Contains(page.ReadText("main"), "plain e-mail address") {
		t.Errorf("an address without a domain: %d %s", status, page.ReadText("main"))
	}
	for _, fault := range page.ListFaults() {
		if !strings.Contains(fault, "422") { // the browser complains of the status
			t.Errorf("the refused sign-up: %s", fault)
		}
	}
	page.FillField("input[name=email]", harness.Email)
	page.FillField("input[name=password]", harness.Password)
	page.FollowLink("main form button[type=submit]")
	if text := page.ReadText("main"); !strings.Contains(text, "Your business is ready") {
		t.Fatalf("after sign-up: %s", text)
	}
	page.FollowLink(".side a[href='/dashboard/links']")
	page.FollowLink("main a[href='/dashboard/links/new']")
	page.FillField("input[name=title]", "Yoga class")
	page.FillField("input[name=amount]", "20")
	page.FollowLink("main form[action='/dashboard/links'] button[type=submit]")
	if text := page.ReadText("main"); !strings.Contains(text, "The link is ready") {
		t.Fatalf("the new link: %s", text)
	}
	return page.ReadAttribute("main a[href^='/l/']", "href")
}

// withoutScriptSearch finds the payment by its customer, filters, and exports what is found.
func withoutScriptSearch(t *testing.T, i *harness.Instance, page *browser.Page) {
	t.Helper()
	page.FollowLink(".side a[href='/dashboard/payments']")
	page.FillField("#q", "amina@example.com")
	page.ClickElement("#drop-status summary")
	page.ClickElement("#drop-status input[value=successful]")
	page.FollowLink("search form > div > button")
	if text := page.ReadText("#results"); !strings.Contains(text, "Amina Bello") || !strings.Contains(text, "Successful") {
		t.Fatalf("the search: %s", text)
	}
	page.CheckPage()
	page.FollowLink("#results a[href*='/export']")
	page.CheckPage()
	file := download(t, page, i.Base+page.ReadAttribute("a[href*='export.csv']", "href"))
	if rows := strings.Split(strings.TrimSpace(file), "\n"); len(rows) != 2 || !strings.Contains(rows[1], "amina@example.com") {
		t.Errorf("the file: %s", file)
	}
	page.Open(i.Base + "/dashboard/payments?q=nobody%40example.com&status=failed")
	if text := page.ReadText("#results"); !strings.Contains(text, "No payments found for") {
		t.Errorf("nothing found: %s", text)
	}
}

// withoutScriptWebhook adds an endpoint and switches it off and on, in the list and on its page.
func withoutScriptWebhook(t *testing.T, i *harness.Instance, page *browser.Page) {
	t.Helper()
	page.FollowLink(".side a[href='/dashboard/webhooks']")
	page.FollowLink("main a[href='/dashboard/webhooks/new']")
	page.FillField("input[name=type]", "Shop server")
	page.FillField("input[name=url]", "https://shop.example/hooks")
	page.FollowLink("main form[action='/dashboard/webhooks'] button[type=submit]")
	page.WaitForElement(".panel-once")
	page.FollowLink(".side a[href='/dashboard/webhooks']")
	for _, on := range []string{"false", "true"} {
		page.FollowLink("main button[role=switch]")
		if now := page.ReadAttribute("main button[role=switch]", "aria-checked"); now != on {
			t.Errorf("the switch is %s, want %s", now, on)
		}
	}
	page.CheckPage()
	page.FollowLink("main a[href*='/dashboard/webhooks/whk_']")
	page.FollowLink("#switch")
	if now := page.ReadAttribute("#switch", "aria-checked"); now != "false" {
		t.Errorf("on its page the switch is %s", now)
	}
	page.CheckPage()
}
