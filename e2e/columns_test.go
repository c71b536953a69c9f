package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
)

// TestLongNamePushesNoColumnOut: in a window of 1280 pixels the list of payments shows all columns that it has at first,
// also with a customer's name of 200 characters, which is cut and stands whole in the title.
func TestLongNamePushesNoColumnOut(t *testing.T) {
	t.Parallel()
	_, server := serveBook(t)
	page := browser.StartShared(t).OpenTab(t, browser.View{Width: 1280, Height: 900})
	page.Open(server.URL + "/payments-hostile.html")
	const read = `(() => {
	const list = document.querySelector(".wide-table"), name = list.querySelector("tbody td:nth-child(3) span");
	return {Needs: list.scrollWidth, Has: list.clientWidth, Title: name.title, Ends: getComputedStyle(name).textOverflow};
})()`
	at := browser.ReadValue(page, chromedp.Evaluate[struct {
		Needs, Has  int
		Title, Ends string
	}](read))
	if at.Needs > at.Has {
		t.Errorf("the list needs %d px and has %d, want every column in the view", at.Needs, at.Has)
	}
	if at.Ends != "ellipsis" || strings.Count(at.Title, "W") < 200 {
		t.Errorf("the name ends with %s and has the title %q, want an ellipsis and the whole name", at.Ends, at.Title)
	}
}
