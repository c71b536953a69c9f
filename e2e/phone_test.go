package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
)

// placed is where the parts of a page that asks for money are, in CSS pixels from the window's top.
type placed struct {
	State, Countdown, Amount, Address, Wallet, Code struct{ Top, Bottom float64 }
}

const readPlaces = `(() => {
	const at = (found) => { const r = document.querySelector(found).getBoundingClientRect(); return {Top: r.top, Bottom: r.bottom}; };
	return {State: at("#headline"), Countdown: at("[role=timer]"), Amount: at("#amount .copy-btn"), Address: at("#address .row-copy:last-child .copy-btn"),
		Wallet: at("#open-wallet"), Code: at(".pay-code")};
})()`

// TestPhonePaysWithoutScrolling: phones of 320, 360 and 390 × 640 pixels show the amount, the address and
// the button that opens a wallet before anything is scrolled, in every language and for every
// coin, and the code after them; a desktop shows the code first. State and countdown stay in
// sight while the page scrolls.
func TestPhonePaysWithoutScrolling(t *testing.T) {
	t.Parallel()
	names, server := serveBook(t)
	chromium := browser.StartShared(t)
	phones := map[int]*browser.Page{}
	for _, width := range []int{320, 360, 390} {
		phones[width] = chromium.OpenTab(t, browser.View{Width: int64(width), Height: 640})
	}
	desktop := chromium.OpenTab(t, browser.Desktop)
	seen := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "pay-") || !strings.Contains(name, "waiting") && !strings.HasSuffix(name, "-partial") &&
			!strings.HasSuffix(name, "-networks") {
			continue
		}
		seen++
		for width, phone := range phones {
			phone.Open(server.URL + "/" + name + ".html")
			at := browser.ReadValue(phone, chromedp.Evaluate[placed](readPlaces))
			for what, bottom := range map[string]float64{"amount": at.Amount.Bottom, "address": at.Address.Bottom, "wallet": at.Wallet.Bottom} {
				if bottom > 640 {
					t.Errorf("%s: the %s ends at %.0f px on a phone of %d, want at most 640", name, what, bottom, width)
				}
			}
			if at.Code.Top < at.Wallet.Bottom {
				t.Errorf("%s: the code is at %.0f px on a phone of %d, want it below the button at %.0f", name, at.Code.Top, width,
					at.Wallet.Bottom)
			}
			browser.ReadValue(phone, chromedp.Evaluate[bool](`(scrollTo(0, 500), true)`))
			at = browser.ReadValue(phone, chromedp.Evaluate[placed](readPlaces))
			if at.State.Top < 0 || at.Countdown.Top < 0 {
				t.Errorf("%s: scrolled by 500 px on a phone of %d, state and countdown are at %.0f and %.0f px, want them in sight",
					name, width, at.State.Top, at.Countdown.Top)
			}
		}
		desktop.Open(server.URL + "/" + name + ".html")
		at := browser.ReadValue(desktop, chromedp.Evaluate[placed](readPlaces))
		if at.Code.Bottom > at.Amount.Top {
			t.Errorf("%s: the code ends at %.0f px on a desktop, want it above the amount at %.0f", name, at.Code.Bottom, at.Amount.Top)
		}
	}
	if seen < 15 {
		t.Errorf("looked at %d pages, want all languages and coins", seen)
	}
}

// TestSmallPhoneOpensWalletWithoutScrolling: the button that opens a wallet ends within a screen of 320 × 568 below the
// band of test data.
func TestSmallPhoneOpensWalletWithoutScrolling(t *testing.T) {
	t.Parallel()
	_, server := serveBook(t)
	phone := browser.StartShared(t).OpenTab(t, browser.View{Width: 320, Height: 568})
	for _, name := range []string{"pay-waiting", "pay-en-waiting", "pay-fr-waiting"} {
		phone.Open(server.URL + "/" + name + ".html")
		phone.WaitForElement(".band")
		if at := browser.ReadValue(phone, chromedp.Evaluate[placed](readPlaces)); at.Wallet.Bottom > 568 {
			t.Errorf("%s: the button ends at %.0f px, want at most 568", name, at.Wallet.Bottom)
		}
	}
}

// TestTillLeavesFromTheHeadersRow: on a phone the locked till's button to leave stands in the row of the business's name.
func TestTillLeavesFromTheHeadersRow(t *testing.T) {
	t.Parallel()
	_, server := serveBook(t)
	chromium := browser.StartShared(t)
	narrow := chromium.OpenTab(t, browser.View{Width: 360, Height: 640})
	wide := chromium.OpenTab(t, browser.View{Width: 390, Height: 700})
	for name, phone := range map[string]*browser.Page{"till": narrow, "fr-till": narrow, "till-leave": wide, "fr-till-network": wide} {
		phone.Open(server.URL + "/" + name + ".html")
		const read = `(() => {
	const at = (found) => { const r = document.querySelector(".till-bar > " + found).getBoundingClientRect(); return {Top: r.top, Bottom: r.bottom}; };
	return {Leave: at("[href$=leave]"), Sound: at("[data-till-sound]"), Name: at(".grow")};
})()`
		at := browser.ReadValue(phone, chromedp.Evaluate[struct{ Leave, Sound, Name struct{ Top, Bottom float64 } }](read))
		if at.Leave.Top != at.Sound.Top || at.Leave.Top > at.Name.Bottom {
			t.Errorf("%s: Leave is at %.0f px, the sound at %.0f and the name from %.0f to %.0f, want one row",
				name, at.Leave.Top, at.Sound.Top, at.Name.Top, at.Name.Bottom)
		}
	}
}

// TestTillChargesWithoutScrolling: the button that charges is in sight without scrolling while a coin with five networks
// is chosen, and choosing that coin brings its networks into sight above the button.
func TestTillChargesWithoutScrolling(t *testing.T) {
	t.Parallel()
	_, server := serveBook(t)
	chromium := browser.StartShared(t)
	for _, view := range []browser.View{{Width: 1024, Height: 768}, {Width: 390, Height: 844}, {Width: 360, Height: 640}} {
		page := chromium.OpenTab(t, view)
		for _, name := range []string{"till-network", "fr-till-network"} {
			page.Open(server.URL + "/" + name + ".html")
			const read = `(() => {
	const at = (found) => { const r = document.querySelector(found).getBoundingClientRect(); return {Top: r.top, Bottom: r.bottom}; };
	return {Charge: at(".till-charge"), Networks: at("[data-till-network=crypto_USDT]")};
})()`
			at := browser.ReadValue(page, chromedp.Evaluate[struct{ Charge, Networks struct{ Top, Bottom float64 } }](read))
			if at.Networks.Bottom == 0 {
				t.Errorf("%s: the networks aren't shown", name)
			}
			if at.Charge.Bottom > float64(view.Height) {
				t.Errorf("%s: the button to charge ends at %.0f px of a screen of %d × %d, want it in sight", name,
					at.Charge.Bottom, view.Width, view.Height)
			}
			page.TakeShot(fmt.Sprintf("%s-%d", name, view.Width))
			browser.ReadValue(page, chromedp.Evaluate[bool](`(document.querySelector("[value=crypto_BTC]").click(), scrollTo(0, 0), true)`))
			browser.ReadValue(page, chromedp.Evaluate[bool](`(document.querySelector("[value=crypto_USDT]").click(), true)`))
			at = browser.ReadValue(page, chromedp.Evaluate[struct{ Charge, Networks struct{ Top, Bottom float64 } }](read))
			if at.Networks.Top < 0 || at.Networks.Bottom > at.Charge.Top {
				t.Errorf("%s: the networks stand from %.0f to %.0f px of a screen of %d × %d, want them in sight above %.0f", name,
					at.Networks.Top, at.Networks.Bottom, view.Width, view.Height, at.Charge.Top)
			}
			page.TakeShot(fmt.Sprintf("%s-%d-chosen", name, view.Width))
		}
	}
}
