package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// markup are the texts of vectors/markup.txt.
func markup(t *testing.T) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("vectors/markup.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, "# ") {
			texts = append(texts, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(texts) < 200 {
		t.Fatalf("%d texts", len(texts))
	}
	return texts
}

// TestMarkupRuns (AP-7) stores a few hundred texts wherever texts are taken and opens the
// pages that show them, once as they are, and once with the content security policy
// switched off, which would hide that something was let in: none of it runs, none
// becomes an element or an attribute, and the policy has nothing to complain of.
func TestMarkupRuns(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	texts := markup(t)
	all := strings.Join(texts, "\n")
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Said", texts[len(texts)-1])
		http.Error(w, all[:4000], http.StatusInternalServerError)
	}))
	t.Cleanup(shop.Close)
	var hook struct{ ID string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": texts[1], "url": shop.URL + `/"><img/x5s/src=x/onerror=x5s()>`, "active": true}, 201).DecodeData(t, &hook)
	payment := started(t, i, "crypto_ripple")
	play("exact")(t, i, payment.Reference)
	pages := []string{"/dashboard/payments/" + payment.Reference, "/dashboard/links", "/dashboard/webhooks", "/dashboard/webhooks/" + hook.ID, "/dashboard/calls", "/dashboard/audit",
		"/dashboard?from=" + `"><img%20x5s%20src=x%20onerror=x5s()>`, "/dashboard/payments?q=" + `"><img%20x5s%20src=x%20onerror=x5s()>`, "/dashboard/customers?q=" + `"><img%20x5s%20src=x%20onerror=x5s()>`}
	for part := range slices.Chunk(texts, 12) {
		var link struct{ URL string }
		i.SendRequest("POST", "/v1/payment-links", harness.Fields{"title": part[0], "description": strings.Join(part[1:], "\n"), "currency": "USD", "amount": 5,
			"redirect_url": "https://shop.example/?" + strings.NewReplacer(" ", "/", "#", "").Replace(part[2])}, 201).DecodeData(t, &link)
		request := harness.NewRequest("crypto_ripple")
		request["metadata"] = map[string]string{part[3]: strings.Join(part, "\n")}
		var made intent
		i.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(t, &made)
		if i.SendRequest("POST", "/v1/payment/initiate?q="+`%22%3E%3Cimg%20x5s%3E`, harness.Fields{"first_name": strings.Join(part, " "), "currency": part[1]}, 422); len(pages) < 20 {
			pages = append(pages, "/dashboard/payments/"+made.Reference, strings.TrimPrefix(link.URL, i.Base))
		}
	}
	chromium := browser.StartShared(t)
	plain := chromium.OpenTab(t, browser.Plain)
	enter(plain, i)
	shows(t, plain, i.Base+"/dashboard/webhooks/"+hook.ID, "500")
	pages = append(pages, plain.ReadAttribute("table a[href*='/deliveries/']", "href"))
	shows(t, plain, i.Base+"/dashboard/calls", "/v1/payment/initiate")
	pages = append(pages, plain.ReadAttribute("a[href^='/dashboard/calls/']", "href"))
	plain.Open(i.Base + "/dashboard/links")
	for n, at := range browser.ReadValue(plain, chromedp.Evaluate[[]string](`[...document.querySelectorAll("td a[href^='/dashboard/links/']")].map((a) => a.getAttribute("href"))`)) {
		if n%4 == 1 {
			pages = append(pages, at)
		}
	}
	if len(pages) < 25 {
		t.Errorf("%d pages only: %v", len(pages), pages)
	}
	for name, free := range map[string]bool{"as it is": false, "without the policy": true} {
		t.Run(name, func(t *testing.T) {
			page := chromium.OpenTab(t, browser.Desktop)
			enter(page, i)
			page.WatchCalls("x5s", free)
			for _, path := range pages {
				page.Open(i.Base + path)
				if found := page.ListSeen("x5s"); found != "" {
					t.Errorf("%s: %s", path, found)
				}
				if complaints := page.ListComplaints(); len(complaints) > 0 {
					t.Fatalf("%s: console: %s", path, complaints)
				}
			}
		})
	}
}
