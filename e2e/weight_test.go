package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// loaded finds what a page loads by itself.
var loaded = regexp.MustCompile(`<(?:script|img)[^>]* src="([^"]+)"|<link rel="(?:stylesheet|icon)" href="([^"]+)"`)

// TestPageWeight holds the payment page and the list of transactions with 50
// rows to what they may weigh, compressed and with headers, and to how many
// requests they may take.
func TestPageWeight(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	i.RunCommand("", "seed", "--business", i.Code, "--payments", "60")
	payment := started(t, i, "crypto_ripple")
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	page.Open(payment.URL)
	page.WaitForElement("#payment-state[data-view=waiting]") // with all that is shown to pay by
	enter(page, i)
	cookies := page.ReadCookies()
	for name, c := range map[string]struct {
		address      string
		bytes, count int
	}{
		"payment page":            {payment.URL, 36 << 10, 6},
		"payment page, in Arabic": {payment.URL + "?lang=ar", 36 << 10, 6},
		"50 transactions":         {i.Base + "/dashboard/payments?size=50", 55 << 10, 6},
	} {
		text, sum := fetch(t, c.address, cookies)
		count, table := 1, fmt.Sprintf("%7d %s\n", sum, c.address)
		for _, found := range loaded.FindAllStringSubmatch(text, -1) {
			_, weight := fetch(t, i.Base+found[1]+found[2], cookies)
			sum, count = sum+weight, count+1
			table += fmt.Sprintf("%7d %s\n", weight, found[1]+found[2])
		}
		t.Logf("%s: %d bytes in %d requests, %.2f of the limit", name, sum, count, float64(sum)/float64(c.bytes))
		if sum > c.bytes || count > c.count || count < 4 {
			t.Errorf("%s: %d bytes in %d requests, at most %d in %d:\n%s", name, sum, count, c.bytes, c.count, table)
		}
	}
}

// fetch is an answer's text and what it weighed on its way. The text comes by a
// request of its own, which asks for it as it is.
func fetch(t *testing.T, address string, cookies map[string]string) (text string, weight int) {
	t.Helper()
	for _, encoding := range []string{"br, gzip", "identity"} {
		request, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", encoding)
		for name, value := range cookies {
			request.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", address, answer.StatusCode, err)
		}
		if encoding == "identity" {
			return string(body), weight
		}
		weight = len(body)
		for name, values := range answer.Header {
			for _, value := range values {
				weight += len(name) + len(value) + 4
			}
		}
	}
	return text, weight
}
