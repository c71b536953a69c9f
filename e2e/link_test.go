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
	i.CreateBusiness()
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Plain)
	enter(page, i)
	page.Open(i.Base + "/dashboard/links/new")
	page.FillField("input[name=title]", "Yoga class")
	page.FillField("input[name=amount]", "20")
	page.ClickElement("main form[action='/dashboard/links'] button[type=submit]")
	page.WaitForElement("a[href$='/poster']")
	public := page.ReadAttribute("main a[href^='/l/']", "href")
	page.FollowLink("a[href$='/poster']")
	if text := page.ReadText("main"); !strings.Contains(text, "Scan to pay") || !strings.Contains(text, public) {
		t.Errorf("the poster: %s", text)
	}
	page.CheckPage()
	page.TakeShot("poster-without-script")

	customer := chromium.OpenTab(t, browser.View{Width: 390, Height: 844, NoScript: true})
	customer.Open(i.Base + public)
	customer.ClickElement(".languages summary")
	customer.ClickElement(".languages a[hreflang=ar]")
	customer.WaitForElement("html[dir=rtl]")
	customer.ClickElement("input[value=crypto_ripple]")
	customer.FillField("input[name=first_name]", "Amina")
	customer.FillField("input[name=last_name]", "Bello")
	customer.FillField("input[name=email]", "amina@example.com")
	customer.FollowLink("main form button[type=submit]")
	customer.ClickElement("main form[action*='/open'] button")
	customer.WaitForElement("html[dir=rtl] #tag-required")
	customer.TakeShot("pay-arabic-without-script")
	customer.ClickElement("[name=scenario][value=exact]")
	customer.WaitForElement("html[dir=rtl] #payment-state")

	page.Open(i.Base + "/dashboard/links")
	page.ClickElement("main button[role=switch]")
	page.WaitForElement("main button[role=switch][aria-checked=false]")
	customer.Open(i.Base + public + "?lang=fr")
	if text := customer.ReadText("main"); !strings.Contains(text, "Ce lien est désactivé") {
		t.Errorf("a link that is off says: %s", text)
	}
}
