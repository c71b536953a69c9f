package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
)

// labelsOff lists the labels of rows whose text stands more than a pixel above or below the first
// value's.
const labelsOff = `(() => {
	const top = (cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects()[0].top; };
	return [...document.querySelectorAll(".table-plain th[scope=row]")].filter(th => th.nextElementSibling.innerText.trim() && Math.abs(top(th) - top(th.nextElementSibling)) > 1)
		.map(th => th.innerText + " by " + (top(th) - top(th.nextElementSibling)));
})()`

// termsOff lists the labels of definition lists whose text stands more than two pixels above or below their value's.
const termsOff = `(() => {
	const top = (cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects()[0].top; };
	const text = (dd) => [...dd.querySelectorAll("a, span, bdi, time")].find(el => el.innerText.trim()) || dd;
	return [...document.querySelectorAll("[aria-labelledby=facts] .dl > dt")].filter(dt => Math.abs(top(dt) - top(text(dt.nextElementSibling))) > 2)
		.map(dt => dt.innerText + " by " + (top(dt) - top(text(dt.nextElementSibling))));
})()`

// TestPaymentPageIsShort: with five endpoints, of which two fail, the merchant's page of a payment
// is at most 1,800 px high on a desktop.
func TestPaymentPageIsShort(t *testing.T) {
	t.Parallel()
	_, server := serveBook(t)
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	page.Open(server.URL + "/payment.html")
	if high := browser.ReadValue(page, chromedp.Evaluate[int](`document.documentElement.scrollHeight`)); high > 1800 {
		t.Errorf("the page of a payment is %d px high, want at most 1800", high)
	}
	if n := browser.ReadValue(page, chromedp.Evaluate[int](`document.querySelectorAll("details.fold").length`)); n != 5 {
		t.Errorf("the page has %d lines of endpoints, want 5", n)
	}
	for _, name := range []string{"payment", "team", "rate-policy"} {
		page.Open(server.URL + "/" + name + ".html")
		found := browser.ReadValue(page, chromedp.Evaluate[[]string](labelsOff))
		found = append(found, browser.ReadValue(page, chromedp.Evaluate[[]string](termsOff))...)
		for _, off := range found {
			t.Errorf("%s: the label is off its value: %s px", name, off)
		}
	}
}
