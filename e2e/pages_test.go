package e2e

import (
	"flag"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// views are how pages are looked at.
var views = map[string]browser.View{
	"phone": browser.Phone, "phone-dark": browser.PhoneDark, "desktop": browser.Desktop, "desktop-dark": browser.DesktopDark,
}

var allViews = flag.Bool("views.all", false,
	"look at pages in four views; otherwise at those of TestBook in one, at others in two")

// chooseViews returns the views in which a test looks at its pages: without -views.all two, which have
// both widths and both themes.
func chooseViews() map[string]browser.View {
	if *allViews {
		return views
	}
	return map[string]browser.View{"phone": views["phone"], "desktop-dark": views["desktop-dark"]}
}

// TestPages looks at every page of a business with payments in each chosen view: no
// complaint in the console (which is where the content security policy
// complains), nothing that axe finds, no sideways scrolling.
func TestPages(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	paid, short, open := started(t, i, "crypto_ripple"), started(t, i, "crypto_tether"), started(t, i, "crypto_bitcoin")
	fresh := started(t, i, "crypto_dogecoin")
	play("exact")(t, i, paid.Reference)
	play("underpay")(t, i, short.Reference)
	play("never_confirms")(t, i, open.Reference)
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": "https://shop.example.com/hooks", "active": false}, 201)
	var link struct{ URL string }
	i.SendRequest("POST", "/v1/payment-links", harness.Fields{"title": "Membership", "currency": "KES", "amount": 5000}, 201).DecodeData(t, &link)
	reach(t, i, paid.Reference, "successful", "")
	reach(t, i, short.Reference, "declined", "underpaid")

	outside := map[string]string{
		"sign-in": i.Base + "/sign-in", "docs": i.Base + "/docs", "missing": i.Base + "/nothing-here", "link": link.URL,
		"checkout-successful": paid.URL, "checkout-declined": short.URL, "checkout-seen": open.URL, "checkout-waiting": fresh.URL,
	}
	inside := []string{"/dashboard", "/dashboard/payments", "/dashboard/payments?q=PAY_NOTHING", "/dashboard/payments?status=declined&period=7d&min=1&size=50", "/dashboard/payments?status=odd&col=email&col=paid&col=settled&col=created&col=customer&col=coin&col=fiat&col=method", "/dashboard/payments/export", "/dashboard/payments/export?q=PAY_NOTHING", "/dashboard/payments/" + paid.Reference, "/dashboard/payments/" + short.Reference,
		"/dashboard/links", "/dashboard/links/new", "/dashboard/methods", "/dashboard/rates", "/dashboard/rates?pair=USD%2FGHS", "/dashboard/rates/NGN", "/dashboard/rates/USD", "/dashboard/webhooks", "/dashboard/webhooks/new", "/dashboard/webhooks/check", "/dashboard/webhooks/resends", "/dashboard/keys", "/dashboard/mailbox", "/dashboard/unmatched", "/dashboard/account", "/dashboard/account/password", "/dashboard/account/email", "/dashboard/account/second-factor", "/dashboard/account/passkeys", "/dashboard/team"}
	chromium := browser.StartShared(t)
	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) {
			for title, address := range outside {
				t.Run(title, func(t *testing.T) {
					page := chromium.OpenTab(t, view)
					page.Open(address)
					if title == "checkout-waiting" {
						page.WaitForElement("#payment-state[data-view=waiting]") // the page opens the payment itself
					}
					page.TakeShot(title + "-" + name)
					if title != "missing" { // the browser itself complains of a 404
						page.CheckPage()
					}
				})
			}
			page := chromium.OpenTab(t, view)
			enter(page, i)
			for _, path := range inside {
				look(t, page, i.Base, path, name)
			}
			// Where nothing is asked yet, and nothing has a price.
			menu := ".side"
			if view.Width < 960 {
				menu = ".topbar"
				page.ClickElement(".topbar summary")
			}
			page.ClickElement(menu + " form[action='/dashboard/domain'] button[value=live]")
			page.WaitForElement(".shell[data-domain=live]")
			for _, path := range []string{"/dashboard/rates", "/dashboard/rates/NGN", "/dashboard/methods"} {
				look(t, page, i.Base, path, name+"-live")
			}
		})
	}
}

// look opens a page, whose picture is called by its path and the view, and finds what is wrong with it.
func look(t *testing.T, page *browser.Page, base, path, view string) {
	t.Helper()
	if status := page.Open(base + path); status != 200 {
		t.Errorf("%s: %d", path, status)
	}
	named := strings.NewReplacer("/", "_", "?", "_", "=", "_", "&", "_", "%2F", "-", "%3A", "-").Replace(strings.TrimPrefix(path, "/"))
	page.TakeShot(named + "-" + view)
	for _, fault := range page.ListFaults() {
		t.Errorf("%s: %s", path, fault)
	}
}

// intent is a payment with its page.
type intent struct {
	Reference string
	URL       string `json:"payment_url"`
}

func started(t *testing.T, i *harness.Instance, method string) (made intent) {
	t.Helper()
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest(method), 201).DecodeData(t, &made)
	return made
}

// TestLeavesOnce: a page that saw its payment become paid leads to the merchant by itself, and only shows the button when
// it is opened again.
func TestLeavesOnce(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	request := harness.NewRequest("crypto_ripple")
	request["redirect_url"] = "https://shop.example/thanks"
	var payment intent
	i.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(t, &payment)
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	page.Open(payment.URL)
	page.WaitForElement("#payment-state[data-view=waiting]")
	page.ClickElement("[name=scenario][value=exact]")
	page.WaitForElement("[data-leave]:not([hidden])")
	page.ClickElement("[data-leave-cancel]")
	page.Open(payment.URL)
	page.WaitForElement("[data-theme-switch]:not([hidden])") // the script has looked at the page
	page.WaitForElement("a[data-leave-to]")
	page.WaitForElement("[data-leave][hidden]")
}

// TestPayLive pays on the page by the sandbox's panel and sees the page turn
// successful by itself.
func TestPayLive(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	payment := started(t, i, "crypto_ripple")
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	page.Open(payment.URL)
	page.WaitForElement("#payment-state[data-view=waiting]") // the page has opened the payment, and replaces this part no more by itself
	page.ClickElement("[name=scenario][value=exact]")
	page.WaitForElement("#payment-state[data-view=successful]")
	page.CheckPage()
	reach(t, i, payment.Reference, "successful", "")
}

// TestPayWithoutScript does the same with JavaScript off: buttons and reloads.
func TestPayWithoutScript(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	payment := started(t, i, "crypto_ripple")
	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	page.Open(payment.URL)
	if got := i.VerifyPayment(payment.Reference).Status; got != "pending" {
		t.Fatalf("looking at the page made it %s", got)
	}
	page.ClickElement("main form[action$='/open'] button")
	harness.WaitFor(t, time.Minute, "the payment to be opened", func() bool { return i.VerifyPayment(payment.Reference).Status == "initiated" })
	page.ClickElement("[name=scenario][value=exact]")
	reach(t, i, payment.Reference, "successful", "")
	page.Open(payment.URL)
	if text := page.ReadText("main"); !strings.Contains(strings.ToLower(text), "paid") && !strings.Contains(strings.ToLower(text), "success") {
		t.Errorf("the page says: %s", text)
	}
	page.TakeShot("checkout-without-script")
}
