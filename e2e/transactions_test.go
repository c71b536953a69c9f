package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestTransactionKeys goes through the list by the keyboard, and hears of a new
// payment without losing its place.
func TestTransactionKeys(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.Business()
	older, newer := started(t, i, "crypto_bitcoin"), started(t, i, "crypto_ripple")
	page := browser.Start(t).Page(t, browser.Desktop)
	enter(page, i)
	page.Open(i.Base + "/dashboard")
	page.Key("g")
	page.Key("t")
	page.Find("#results")
	page.Key("j")
	focused(page, newer.Reference)
	page.Key("j")
	focused(page, older.Reference)
	page.Key("k")
	focused(page, newer.Reference)

	third := started(t, i, "crypto_dogecoin")
	page.Await(`document.querySelector("[data-news-place] a").textContent === "1 new payment – show"`)
	focused(page, newer.Reference) // nothing has moved
	page.Await(`document.querySelectorAll("[data-rows] tbody tr").length === 2`)
	page.Shot("transactions-news")
	page.Clean()
	page.Press("[data-news-place] a")
	page.Find("[data-rows] a[href$='" + third.Reference + "']")

	page.Key("j")
	focused(page, third.Reference)
	page.Key("\r")
	page.Find("form[action$='" + third.Reference + "/simulate']")
	page.Await(`document.readyState === "complete"`) // its script listens for keys
	page.Key("/")
	page.Find("#results")
	page.Await(`document.activeElement.id === "q"`)
	page.Key("jjg?") // letters in a field are text
	page.Await(`document.activeElement.value === "jjg?" && !document.querySelector("dialog[open]")`)
	page.Await(`location.search.includes("q=jjg")`)

	page.Open(i.Base + "/dashboard/payments")
	page.Find("#results")
	page.Key("?")
	page.Find("dialog[open]")
	page.Shot("transactions-keys")
	page.Clean()
	page.Press("[data-keys-switch]")
	page.Press("[data-keys-close]")
	page.Open(i.Base + "/dashboard/payments")
	page.Find("#results")
	page.Key("?")
	page.Key("j")
	page.Await(`!document.querySelector("dialog[open]") && document.activeElement === document.body`)
}

func focused(page *browser.Page, reference string) {
	page.Await(`document.activeElement.getAttribute("href") === "/dashboard/payments/` + reference + `"`)
}

// TestTransactionFilters filters with a script, at each change, and by a button without one.
func TestTransactionFilters(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.Business()
	one, other := started(t, i, "crypto_bitcoin"), started(t, i, "crypto_ripple")
	chromium := browser.Start(t)

	page := chromium.Page(t, browser.Desktop)
	enter(page, i)
	page.Open(i.Base + "/dashboard/payments")
	page.Press("#drop-status summary")
	page.Shot("transactions-status")
	page.Clean()
	page.Press("#drop-status input[value=declined]")
	page.Await(`location.search.includes("status=declined") && document.querySelector("#results").innerText.includes("No payments found for")`)
	page.Press("#drop-status input[value=pending]")
	page.Await(`document.querySelectorAll("[data-rows] tbody tr").length === 2`)
	page.Clean()

	plain := chromium.Page(t, browser.Plain)
	enter(plain, i)
	plain.Open(i.Base + "/dashboard/payments")
	plain.Press("#drop-status summary")
	plain.Press("#drop-status input[value=pending]")
	plain.Fill("#q", one.Reference)
	plain.Press("search form > div > button")
	plain.Find(".chip")
	text := plain.Text("#results")
	if !strings.Contains(text, one.Reference) || strings.Contains(text, other.Reference) || !strings.Contains(text, "Status: Pending") {
		t.Errorf("without a script: %s", text)
	}
	plain.Follow("#results a[href*='/export']")
	if text := plain.Text("main"); !strings.Contains(text, "1 payment") || !strings.Contains(text, "Download CSV") {
		t.Errorf("the export: %s", text)
	}
	file := download(t, plain, i.Base+plain.Attribute("a[href*='export.csv']", "href"))
	if !strings.HasPrefix(file, "Reference,Business reference") || !strings.Contains(file, one.Reference) || strings.Contains(file, other.Reference) {
		t.Errorf("the file: %s", file)
	}
}

// download fetches an address with the page's cookies.
func download(t *testing.T, page *browser.Page, address string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range page.Cookies() {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", answer.StatusCode, err, text)
	}
	return string(text)
}
