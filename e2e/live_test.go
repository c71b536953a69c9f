package e2e

import (
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestPagesUpdateByThemselves: the overview, a payment's page and the bell show what happens without being loaded
// again, and what a person is typing stays.
func TestPagesUpdateByThemselves(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	first := started(t, i, "crypto_ripple")
	shared := browser.StartShared(t)
	overview, payment := shared.OpenTab(t, browser.Desktop), shared.OpenTab(t, browser.Phone)
	for _, page := range []*browser.Page{overview, payment} {
		enter(page, i)
	}
	overview.Open(i.Base + "/dashboard")
	payment.Open(i.Base + "/dashboard/payments/" + first.Reference)
	for _, page := range []*browser.Page{overview, payment} {
		page.WaitForElement("#live[data-live^='/dashboard/live']")
		page.WaitForExpression(`(window.loadedOnce = true)`) // gone when a page is loaded again
	}
	overview.WaitForElement("#live a[href$='" + first.Reference + "']")
	// An open page asks once when its stream opens. An answer that says nothing new replaces nothing: htmx, which
	// replaces, writes into the history.
	payment.WaitForExpression(`performance.getEntriesByType("resource").some((r) => r.name === location.href)`)
	payment.WaitForExpression(`history.state === null`)
	second := started(t, i, "crypto_bitcoin")
	overview.WaitForElement("#live a[href$='" + second.Reference + "']")

	i.SendRequest("POST", "/v1/sandbox/payments/"+first.Reference+"/simulate", map[string]string{"scenario": "exact"}, 200)
	payment.WaitForExpression(`document.querySelector("#live h1").textContent.includes("Successful")`)
	payment.WaitForExpression(`document.querySelector("#announce").textContent.includes("Successful")`)
	overview.WaitForExpression(`document.querySelector(".side .bell-count")?.textContent.trim() === "1"`)
	for _, page := range []*browser.Page{overview, payment} {
		page.WaitForExpression(`window.loadedOnce === true`)
		page.CheckPage()
	}

	i.SendRequest("POST", "/v1/sandbox/payments/"+second.Reference+"/simulate", map[string]string{"scenario": "overpay"}, 200)
	payment.Open(i.Base + "/dashboard/notifications")
	payment.WaitForExpression(`document.querySelector("[data-news-place] a").textContent.includes("new") || document.querySelectorAll("[data-rows] tbody tr").length === 2`)
	payment.CheckPage()
}

// TestPaymentPageSkipsWhatItShows: the first message of a payment page's stream says what the page shows already. The
// page takes it in only when something is new.
func TestPaymentPageSkipsWhatItShows(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	made := started(t, i, "crypto_ripple")
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	page.RunInEachPage(`addEventListener("htmx:sse:before:message", (e) => (window.skips ||= []).push(e.defaultPrevented))`)
	page.Open(made.URL)
	page.WaitForElement("#payment-state[data-view=waiting]")
	page.Open(made.URL)
	page.WaitForExpression(`window.skips?.join() === "true"`)
	i.SendRequest("POST", "/v1/sandbox/payments/"+made.Reference+"/simulate", map[string]string{"scenario": "exact"}, 200)
	page.WaitForElement("#payment-state[data-view=successful]")
	page.WaitForExpression(`window.skips.includes(false)`)
	page.CheckPage()
}
