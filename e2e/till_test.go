package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestTill takes a payment at the counter as a cashier would: the owner locks the device, the keys type the amount, Enter
// charges, the page turns to "Paid" by itself with a sound, the day's sum has it, and only the PIN leads out.
func TestTill(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	enter(page, i)
	page.Open(i.Base + "/dashboard/till/settings")
	page.FillField("input[name=pin]", "4711")
	page.FollowLink("form[action='/dashboard/till/pin'] button")
	page.CheckPage()
	page.Open(i.Base + "/dashboard/till")
	// Locking ends the session that the page asks with. Its first question is answered before, so that nothing is refused.
	page.WaitForExpression(`performance.getEntriesByType("resource").some(e => e.initiatorType === "fetch" && e.responseEnd > 0)`)
	page.FollowLink("form[action='/dashboard/till/lock'] button")
	page.WaitForElement("a[href='/dashboard/till/leave']")
	page.ClickElement("[data-till-sound]")
	page.WaitForExpression(`document.body.dataset.played === "1"`) // it is heard when it is switched on
	page.CheckPage()

	page.ClickElement("[data-till-key='2']")
	page.PressKeys("5")
	page.WaitForExpression(`document.querySelector("input[name=amount]").value === "25"`)
	page.ChooseOption("select[name=currency]", "USD")
	page.ClickElement("input[value=crypto_ripple]")
	page.FollowLink("[data-till-form] button[type=submit]")
	page.WaitForElement("[data-till-face=waiting] svg.qr")
	page.WaitForExpression(`(window.loadedOnce = true)`) // gone when a page is loaded again
	page.CheckPage()
	at := page.CurrentAddress()
	reference := at[strings.LastIndex(at, "/")+1:]
	i.SendRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", map[string]string{"scenario": "exact"}, 200)
	page.WaitForElement("[data-till-face=paid]")
	page.WaitForExpression(`window.loadedOnce && document.querySelector("#announce").textContent === "Paid" && document.activeElement.dataset.tillNext !== undefined`)
	page.CheckPage()

	page.FollowLink("[data-till-next]")
	if text := page.ReadText("#till-live"); !strings.Contains(text, "$25.00") || !strings.Contains(text, "1 payment") {
		t.Errorf("the day's sum: %q, want $25.00 of 1 payment", text)
	}
	if status := page.Open(i.Base + "/dashboard/payments"); status != 403 {
		t.Errorf("the list of payments answers %d in till mode, want 403", status)
	}
	page.ListFaults() // the browser complains of the status
	page.Open(i.Base + "/dashboard/till/leave")
	page.FillField("input[name=pin]", "4711")
	page.FollowLink("main form[action='/dashboard/till/leave'] button")
	page.WaitForElement("#live")
	if text := page.ReadText("main"); !strings.Contains(text, "left till mode") {
		t.Errorf("after the PIN: %.200q", text)
	}
}

// TestTillWithoutScript takes a payment at the counter in a browser without JavaScript, whose page is loaded again by itself.
func TestTillWithoutScript(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	view := browser.Phone
	view.NoScript = true
	page := browser.StartShared(t).OpenTab(t, view)
	enter(page, i)
	page.Open(i.Base + "/dashboard/till")
	page.FillField("input[name=amount]", "25000")
	page.FollowLink("[data-till-form] button[type=submit]")
	page.WaitForElement("[data-till-face=waiting] svg.qr")
	if text := page.ReadText("#till-live"); !strings.Contains(text, "Pay before ") || strings.Contains(text, "Time left") {
		t.Errorf("without JavaScript the page says %q, want until when to pay and no time left, which stands still", text)
	}
	at := page.CurrentAddress()
	reference := at[strings.LastIndex(at, "/")+1:]
	i.SendRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", map[string]string{"scenario": "exact"}, 200)
	shows(t, page, at, "Paid")
}
