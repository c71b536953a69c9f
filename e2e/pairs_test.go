package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

var (
	pairsBefore = flag.String("pairs.before", "", "TestPairs: a checkout of the release before; otherwise this one")
	pairsTo     = flag.String("pairs.to", "", "TestPairs: the folder for the pictures; otherwise one that is gone afterwards")
	pairsAll    = flag.Bool("pairs.all", false, "TestPairs: all pages of the view book, not only the main ones")
)

// mainPages are the pages of the view book that TestPairs draws without -pairs.all.
var mainPages = []string{"overview", "payments", "payment", "webhook", "link", "pay-waiting"}

// mostOfSheet bounds a sheet's file: a document shows six.
const mostOfSheet = 200 << 10

// pairViews are the widths and themes that TestPairs draws.
func pairViews() map[string]browser.View {
	looks := map[string]browser.View{}
	for _, width := range []int64{360, 390, 1280} {
		looks[fmt.Sprint(width)] = browser.View{Width: width, Height: 844}
		looks[fmt.Sprint(width, "-dark")] = browser.View{Width: width, Height: 844, Dark: true}
	}
	return looks
}

// TestPairs draws pages of the view book as they were in a release and as they are now, and an
// index that shows them beside each other. A page that the release didn't have is drawn alone.
func TestPairs(t *testing.T) {
	t.Parallel()
	folder := *pairsTo
	if folder == "" {
		folder = t.TempDir()
	}
	before := *pairsBefore
	if before == "" {
		before = harness.FindRoot()
	}
	earlier, old := serveBookOf(t, before)
	names, now := serveBook(t)
	if !*pairsAll {
		names = mainPages
	}
	chromium := browser.StartShared(t)
	harness.RunEach(t, pairViews(), func(t *testing.T, look string, view browser.View) {
		page := chromium.OpenTab(t, view)
		draw := func(base, name, part string) {
			page.Open(base + "/" + name + ".html")
			file := filepath.Join(folder, name+"-"+look+"-"+part+".png")
			if err := os.WriteFile(file, page.TakeWhole(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range names {
			if slices.Contains(earlier, name) {
				draw(old.URL, name, "before")
			}
			draw(now.URL, name, "now")
		}
	})
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	showPair := func(name, look, style string) (html string) {
		for _, part := range []string{"before", "now"} {
			if part == "now" || slices.Contains(earlier, name) {
				html += fmt.Sprintf(`<img alt="%s %[1]s" style="%[4]s" src="%[2]s-%[3]s-%[1]s.png">`, part, name, look, style)
			}
		}
		return html
	}
	index := "<!doctype html><title>Before and now</title>"
	for _, name := range names {
		index += "<h2>" + name + "</h2>"
		for _, look := range slices.Sorted(maps.Keys(pairViews())) {
			index += showPair(name, look, "")
		}
	}
	write("index.html", index)

	// A sheet of each main page is small enough for a document.
	files := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer files.Close()
	tab := chromium.OpenTab(t, browser.View{Width: 1408, Height: 600})
	for _, name := range mainPages {
		write(name+".html", "<!doctype html><title>"+name+"</title>"+`<body style="margin:0;display:flex;align-items:start;gap:16px;background:#777">`+
			showPair(name, "1280", "width:480px")+showPair(name, "390-dark", "width:200px"))
		tab.Open(files.URL + "/" + name + ".html")
		sheet := tab.TakeSmallWhole()
		if len(sheet) > mostOfSheet {
			t.Errorf("the sheet of %s has %d bytes, want at most %d", name, len(sheet), mostOfSheet)
		}
		write(name+".webp", string(sheet))
	}
}
