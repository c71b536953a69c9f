package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestLinkWithoutScript makes a link, prints its poster, pays with it in
// Arabic, and switches it off: all with JavaScript off.
func TestLinkWithoutScript(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.Business()
	chromium := browser.Start(t)
	page := chromium.Page(t, browser.Plain)
	enter(page, i)
	page.Open(i.Base + "/dashboard/links/new")
	page.Fill("input[name=title]", "Yoga class")
	page.Fill("input[name=amount]", "20")
	page.Press("main form[action='/dashboard/links'] button[type=submit]")
	page.Find("a[href$='/poster']")
	public := page.Attribute("main a[href^='/l/']", "href")
	page.Follow("a[href$='/poster']")
	if text := page.Text("main"); !strings.Contains(text, "Scan to pay") || !strings.Contains(text, public) {
		t.Errorf("the poster: %s", text)
	}
	page.Clean()
	page.Shot("poster-without-script")

	customer := chromium.Page(t, browser.View{Width: 390, Height: 844, NoScript: true})
	customer.Open(i.Base + public)
	customer.Press("footer a[hreflang=ar]")
	customer.Find("html[dir=rtl]")
	customer.Press("input[value=crypto_ripple]")
	customer.Fill("input[name=first_name]", "Amina")
	customer.Fill("input[name=last_name]", "Bello")
	customer.Fill("input[name=email]", "amina@example.com")
	customer.Follow("main form button[type=submit]")
	customer.Press("main form[action*='/open'] button")
	customer.Find("html[dir=rtl] #tag-required")
	customer.Shot("pay-arabic-without-script")
	customer.Press("[name=scenario][value=exact]")
	customer.Find("html[dir=rtl] #payment-state")

	page.Open(i.Base + "/dashboard/links")
	page.Press("main button[role=switch]")
	page.Find("main button[role=switch][aria-checked=false]")
	customer.Open(i.Base + public + "?lang=fr")
	if text := customer.Text("main"); !strings.Contains(text, "Ce lien est désactivé") {
		t.Errorf("a link that is off says: %s", text)
	}
}
