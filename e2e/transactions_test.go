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
	i.CreateBusiness()
	older, newer := started(t, i, "crypto_bitcoin"), started(t, i, "crypto_ripple")
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	enter(page, i)
	page.Open(i.Base + "/dashboard")
	page.PressKeys("g")
	page.PressKeys("t")
	page.WaitForElement("#results")
	page.PressKeys("j")
	focused(page, newer.Reference)
	page.PressKeys("j")
	focused(page, older.Reference)
	page.PressKeys("k")
	focused(page, newer.Reference)

	third := started(t, i, "crypto_dogecoin")
	page.WaitForExpression(`document.querySelector("[data-news-place] a").textContent === "1 new payment – show"`)
	focused(page, newer.Reference) // nothing has moved
	page.WaitForExpression(`document.querySelectorAll("[data-rows] tbody tr").length === 2`)
	page.TakeShot("transactions-news")
	page.CheckPage()
	page.ClickElement("[data-news-place] a")
	page.WaitForElement("[data-rows] a[href$='" + third.Reference + "']")

	page.PressKeys("j")
	focused(page, third.Reference)
	page.PressKeys("\r")
	page.WaitForElement("form[action$='" + third.Reference + "/simulate']")
	page.WaitForExpression(`document.readyState === "complete"`) // its script listens for keys
	page.PressKeys("/")
	page.WaitForElement("#results")
	page.WaitForExpression(`document.activeElement.id === "q"`)
	page.PressKeys("jjg?") // letters in a field are text
	page.WaitForExpression(`document.activeElement.value === "jjg?" && !document.querySelector("dialog[open]")`)
	page.WaitForExpression(`location.search.includes("q=jjg")`)

	page.Open(i.Base + "/dashboard/payments")
	page.WaitForElement("#results")
	page.PressKeys("?")
	page.WaitForElement("dialog[open]")
	page.TakeShot("transactions-keys")
	page.CheckPage()
	page.ClickElement("[data-keys-switch]")
	page.ClickElement("[data-keys-close]")
	page.Open(i.Base + "/dashboard/payments")
	page.WaitForElement("#results")
	page.PressKeys("?")
	page.PressKeys("j")
	page.WaitForExpression(`!document.querySelector("dialog[open]") && document.activeElement === document.body`)
}

func focused(page *browser.Page, reference string) {
	page.WaitForExpression(`document.activeElement.getAttribute("href") === "/dashboard/payments/` + reference + `"`)
}

// TestTransactionFilters filters with a script, at each change, and by a button without one.
func TestTransactionFilters(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	one, other := started(t, i, "crypto_bitcoin"), started(t, i, "crypto_ripple")
	chromium := browser.StartShared(t)

	page := chromium.OpenTab(t, browser.Desktop)
	enter(page, i)
	page.Open(i.Base + "/dashboard/payments")
	page.ClickElement("#drop-status summary")
	page.TakeShot("transactions-status")
	page.CheckPage()
	page.ClickElement("#drop-status input[value=declined]")
	page.WaitForExpression(`location.search.includes("status=declined") && document.querySelector("#results").innerText.includes("No payments found for")`)
	page.ClickElement("#drop-status input[value=pending]")
	page.WaitForExpression(`document.querySelectorAll("[data-rows] tbody tr").length === 2`)
	page.CheckPage()

	plain := chromium.OpenTab(t, browser.Plain)
	enter(plain, i)
	plain.Open(i.Base + "/dashboard/payments")
	plain.ClickElement("#drop-status summary")
	plain.ClickElement("#drop-status input[value=pending]")
	plain.FillField("#q", one.Reference)
	plain.ClickElement("search form > div > button")
	plain.WaitForElement(".chip")
	text := plain.ReadText("#results")
	if !strings.Contains(text, one.Reference) || strings.Contains(text, other.Reference) || !strings.Contains(text, "Status: Pending") {
		t.Errorf("without a script: %s", text)
	}
	plain.FollowLink("#results a[href*='/export']")
	if text := plain.ReadText("main"); !strings.Contains(text, "1 payment") || !strings.Contains(text, "Download CSV") {
		t.Errorf("the export: %s", text)
	}
	file := download(t, plain, i.Base+plain.ReadAttribute("a[href*='export.csv']", "href"))
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
	for name, value := range page.ReadCookies() {
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
