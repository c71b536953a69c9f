package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// shopHook is a merchant's server that first answers 404 to everything.
type shopHook struct {
	*httptest.Server
	mu   sync.Mutex
	up   bool
	last delivery
}

func newShopHook(t *testing.T) *shopHook {
	t.Helper()
	s := &shopHook{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = delivery{r.Header.Clone(), body}
		if !s.up {
			http.Error(w, "no route for this path", http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shopHook) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = true
}

func (s *shopHook) latest() delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// enter signs a page in.
func enter(page *browser.Page, i *harness.Instance) {
	page.Open(i.Base + "/sign-in")
	page.FillField("input[name=email]", harness.Email)
	page.FillField("input[name=password]", harness.Password)
	page.ClickElement("main form button[type=submit]")
	page.WaitForElement("form[action='/sign-out']")
}

// shows opens a page again and again until its content has a text.
func shows(t *testing.T, page *browser.Page, address, text string) {
	t.Helper()
	harness.WaitFor(t, time.Minute, text, func() bool {
		page.Open(address)
		return strings.Contains(page.ReadText("main"), text)
	})
}

// useWebhooks does with forms alone all that the pages about webhooks offer, in
// a page whose scripts are off, and returns the paths of pages with something on them.
func useWebhooks(t *testing.T, i *harness.Instance, page *browser.Page) (paths []string) {
	t.Helper()
	shop := newShopHook(t)
	enter(page, i)
	page.Open(i.Base + "/dashboard/webhooks/new")
	page.FillField("input[name=type]", "Shop server")
	page.FillField("input[name=url]", shop.URL+"/hooks/cointill")
	page.ClickElement("input[name='event.payment.initiated']")
	page.ClickElement("input[name='event.payment.processing']")
	page.ClickElement("input[name='event.payment.successful']")
	page.FillField("input[name=header_name_0]", "X-Gateway-Key")
	page.FillField("input[name=header_value_0]", "a secret key")
	page.ClickElement("main form[action='/dashboard/webhooks'] button[type=submit]")
	page.WaitForElement(".panel-once")
	at := regexp.MustCompile(`/dashboard/webhooks/whk_\w+`).FindString(attribute(page, "form[action$='/test']", "action"))
	page.ClickElement("form[action$='/test'] button")
	page.WaitForElement("main .note.tone-info")
	shows(t, page, i.Base+at, "Your server has nothing at this path")
	delivered := attribute(page, "table a[href*='/deliveries/']", "href")
	if text := page.ReadText("main"); !strings.Contains(text, "X-Gateway-Key: ••••") || strings.Contains(text, "a secret key") {
		t.Errorf("the endpoint's page says: %s", text)
	}
	shop.mend()
	page.Open(i.Base + delivered)
	page.ClickElement("form[action$='/resend'] button")
	page.WaitForElement("main .note.tone-info")
	shows(t, page, i.Base+delivered, "Delivered (200)")

	page.Open(i.Base + at)
	page.ClickElement("#switch")
	page.WaitForElement("#switch[aria-checked=false]")
	missed := started(t, i, "crypto_ripple")
	play("exact")(t, i, missed.Reference)
	reach(t, i, missed.Reference, "successful", "")
	page.Open(i.Base + at)
	page.ClickElement("#switch")
	page.WaitForElement("#switch[aria-checked=true]")
	page.ClickElement("a[href*='/resends/review']")
	page.WaitForElement("form[action='/dashboard/webhooks/resends']")
	review := path(page, i)
	page.ClickElement("form[action='/dashboard/webhooks/resends'] button")
	page.WaitForElement("#progress")
	order := path(page, i)
	shows(t, page, i.Base+order, "Done")
	paths = []string{at, at + "?state=skipped", at + "/edit", delivered, review, order, "/dashboard/webhooks/resends?endpoint=" + strings.TrimPrefix(at, "/dashboard/webhooks/")}

	got := shop.latest()
	page.Open(i.Base + "/dashboard/webhooks/check")
	for _, name := range []string{"id", "timestamp", "signature"} {
		page.FillField("input[name=webhook_"+name+"]", got.header.Get("webhook-"+name))
	}
	page.PasteText("textarea[name=body]", strings.Replace(string(got.body), ",", ",\n ", 1))
	page.ClickElement("main form[action='/dashboard/webhooks/check'] button")
	page.WaitForElement("#verdict")
	if text := page.ReadText("#verdict"); !strings.Contains(text, "It verifies as compact JSON") || !strings.Contains(text, `,\n `) {
		t.Errorf("the checker says: %s", text)
	}
	page.TakeShot("webhooks-check-without-script")
	return paths
}

// brokenWebhook is an endpoint that nothing listens at. It was off for a while,
// and returns the paths of its pages.
func brokenWebhook(t *testing.T, i *harness.Instance, page *browser.Page) []string {
	t.Helper()
	var made struct{ ID string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "Ledger", "url": "http://" + harness.FreeAddress(t) + "/a/long/path/that/goes/on/and/on/and/on", "active": true}, 201).DecodeData(t, &made)
	at := "/dashboard/webhooks/" + made.ID
	play("exact")(t, i, started(t, i, "crypto_ripple").Reference)
	shows(t, page, i.Base+at, "Nothing listens at this host and port")
	delivered := attribute(page, "table a[href*='/deliveries/']", "href")
	page.ClickElement("#switch")
	page.WaitForElement("#switch[aria-checked=false]")
	away := started(t, i, "crypto_ripple")
	play("exact")(t, i, away.Reference)
	reach(t, i, away.Reference, "successful", "")
	page.Open(i.Base + at)
	page.ClickElement("#switch")
	page.WaitForElement("#switch[aria-checked=true]")
	review := attribute(page, "a[href*='/resends/review']", "href")
	return []string{at, at + "?state=skipped", delivered, review, "/dashboard/payments/" + away.Reference, "/dashboard/webhooks"}
}

// TestWebhookPages uses the pages about webhooks without any script, then looks
// at each of them in each view.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	chromium := browser.StartShared(t)
	plain := chromium.OpenTab(t, browser.Plain)
	paths := append(useWebhooks(t, i, plain), brokenWebhook(t, i, plain)...)
	t.Run("progress", func(t *testing.T) { progress(t, i, chromium.OpenTab(t, browser.Desktop), paths[0]) })
	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) {
			page := chromium.OpenTab(t, view)
			enter(page, i)
			for _, path := range paths {
				look(t, page, i.Base, path, name)
			}
		})
	}
}

// progress orders a resend to an endpoint and sees the page come to its end
// without being loaded again.
func progress(t *testing.T, i *harness.Instance, page *browser.Page, at string) {
	t.Helper()
	enter(page, i)
	since := time.Now().AddDate(0, 0, -2).Format("2006-01-02T15:04")
	page.Open(i.Base + "/dashboard/webhooks/resends/review?created_after=" + since + "&endpoint=" + strings.TrimPrefix(at, "/dashboard/webhooks/"))
	page.ClickElement("form[action='/dashboard/webhooks/resends'] button")
	page.WaitForElement("#progress")
	page.WaitForExpression(`window.same = true`)
	page.WaitForExpression(`window.same && document.querySelector("#resend-state").textContent.includes("Done") && !document.querySelector("#progress [hx-get]")`)
	page.CheckPage()
}

// attribute is that of the first element.
func attribute(page *browser.Page, element, name string) string {
	return browser.ReadValue(page, chromedp.AttributeValue(chromedp.CSS(element), name)).Value
}

// path is where a page is.
func path(page *browser.Page, i *harness.Instance) string {
	return strings.TrimPrefix(browser.ReadValue(page, chromedp.Location()), i.Base)
}
