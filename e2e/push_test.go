package e2e

import (
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestNotificationsInTheBrowser switches notifications on in a browser, has its service worker show one that is
// injected with the browser's developer tools, signs out and in, and switches them off.
func TestNotificationsInTheBrowser(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	page.AllowNotifications(i.Base)
	enter(page, i)
	const path = "/dashboard/notifications/browsers"
	page.Open(i.Base + path)
	page.WaitForElement("[data-push-note=off]:not([hidden])")
	page.CheckPage()
	page.TakeShot("notifications-browsers-off")
	page.ClickElement("[data-push-go=on]")
	page.WaitForElement("[data-push-note=on]:not([hidden])")
	page.WaitForElement("#browsers")
	page.CheckPage()
	page.TakeShot("notifications-browsers-on")

	page.DeliverPush(i.Base, `{"title":"Payment received","text":"Ama's Shop","path":"/dashboard/notifications/1","tag":"paid 1"}`,
		`navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((list) => list.length === 1 &&
		list[0].title === "Payment received" && list[0].body === "Ama's Shop" && list[0].data.path === "/dashboard/notifications/1")`)

	page.FollowLink(".side form[action='/sign-out'] button")
	enter(page, i)
	page.Open(i.Base + path) // the page before registers the browser again
	page.WaitForExpression(`JSON.parse(localStorage.getItem("push")).at > 0`)
	page.Open(i.Base + path)
	page.WaitForElement("[data-push-note=on]:not([hidden])")
	page.ClickElement("[data-push-go=off]")
	page.WaitForElement("[data-push-note=off]:not([hidden])")
	page.WaitForExpression(`localStorage.getItem("push") === null && localStorage.getItem("test-subscription") === null`)
	page.CheckPage()

	plain := browser.StartShared(t).OpenTab(t, browser.Plain)
	enter(plain, i)
	plain.Open(i.Base + path)
	plain.CheckPage()
	plain.TakeShot("notifications-browsers-without-script")
}
