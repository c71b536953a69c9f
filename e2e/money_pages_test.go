package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestMoneyPages looks at the overview of each period, at a payment that has to be
// resolved and its receipt, and at customers, in every view.
func TestMoneyPages(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	paid, short := started(t, i, "crypto_ripple"), started(t, i, "crypto_tether")
	play("exact")(t, i, paid.Reference)
	play("underpay")(t, i, short.Reference)
	reach(t, i, paid.Reference, "successful", "")
	reach(t, i, short.Reference, "declined", "underpaid")
	play("overpay")(t, i, paid.Reference) // after the end: it credits nothing
	chromium := browser.StartShared(t)
	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) {
			page := chromium.OpenTab(t, view)
			enter(page, i)
			at := "/dashboard/payments/" + short.Reference
			for _, path := range []string{"/dashboard?period=today", "/dashboard?period=90d&currency=KES", "/dashboard?from=2025-12-01&to=2026-11-30", at, at + "/refund", at + "/receipt",
				"/dashboard/payments?need=decision", "/dashboard/unmatched?show=refunded", "/dashboard/customers", "/dashboard/customers?q=nobody"} {
				look(t, page, i.Base, path, name)
			}
			page.Open(i.Base + "/dashboard/customers")
			page.ClickElement("[data-rows] a")
			page.WaitForElement("#figures")
			page.TakeShot("customer-" + name)
			page.CheckPage()
		})
	}
}

// TestRefundWithoutScript records a refund with JavaScript off: by links and buttons alone.
func TestRefundWithoutScript(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	short := started(t, i, "crypto_ripple")
	play("underpay")(t, i, short.Reference)
	reach(t, i, short.Reference, "declined", "underpaid")
	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(page, i)
	page.Open(i.Base + "/dashboard")
	page.FollowLink("a[href*='need=decision']")
	page.FollowLink("#results a[href*='" + short.Reference + "']") // the list's filters follow
	page.FollowLink("a[href$='/refund']")
	page.FillField("#f-note", "Cash at the counter")
	page.FollowLink("form[action$='/refund/review'] button")
	if text := page.ReadText("main"); !strings.Contains(text, "Record this refund?") || !strings.Contains(text, "Cash at the counter") {
		t.Fatalf("the review: %s", text)
	}
	page.FollowLink("form[action$='/refund'] button")
	if text := page.ReadText("main"); !strings.Contains(text, "The refund was recorded.") || !strings.Contains(text, "Refund recorded") {
		t.Errorf("the payment: %s", text)
	}
}
