package browser

import (
	"bytes"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// faulty has one fault of each kind that a page is checked for.
const faulty = `<!doctype html><html lang="en"><head><title>Faulty</title></head><body><main>
<h1>Faulty</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><div style="width: 3000px">wide</div>
<script>document.title = "script ran"; console.error("planted")</script></main></body></html>`

// TestFaultsAreFound proves that the checks find what they are there for.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, faulty)
	}))
	defer server.Close()
	chromium := StartShared(t)

	page := chromium.OpenTab(t, Phone)
	page.Open(server.URL)
	page.WaitForExpression(`document.title === "script ran"`)
	faults := strings.Join(page.ListFaults(), "\n")
	for _, want := range []string{"planted", "image-alt", "wider than the screen"} {
		if !strings.Contains(faults, want) {
			t.Errorf("%q is not among the faults:\n%s", want, faults)
		}
	}

	plain := chromium.OpenTab(t, Plain)
	plain.Open(server.URL)
	if faults := strings.Join(plain.ListFaults(), "\n"); !strings.Contains(faults, "image-alt") || strings.Contains(faults, "planted") {
		t.Errorf("without JavaScript the faults are:\n%s", faults)
	}
}

// TestPagesThatChangeTheirAddress: a page that changes its address by itself isn't taken for the next one.
func TestPagesThatChangeTheirAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
		_, _ = io.WriteString(w, `<!doctype html><title>`+r.URL.Path+`</title><a href="/gone">next</a>
<script>setInterval(() => history.replaceState(null, "", "?at=" + performance.now()), 60)</script>`)
	}))
	defer server.Close()
	page := StartShared(t).OpenTab(t, Phone)
	for _, step := range []struct {
		take  func() int64
		title string
		want  int64
	}{
		{func() int64 { return page.Open(server.URL + "/first") }, "/first", http.StatusOK},
		{func() int64 { return page.FollowLink("a") }, "/gone", http.StatusGone},
		{func() int64 { return page.Open(server.URL + "/second") }, "/second", http.StatusOK},
	} {
		status := step.take()
		title := ReadValue(page, chromedp.Evaluate[string]("document.title"))
		if status != step.want || title != step.title {
			t.Errorf("the page is %q with status %d, want %q with %d", title, status, step.title, step.want)
		}
	}
}

// TestSlowPagesWithoutScripts: a page is waited for until all of it is there, also where no script runs.
func TestSlowPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/slow" {
			<-time.After(300 * time.Millisecond)
		}
		_, _ = io.WriteString(w, `<!doctype html><a href="/next">next</a><img src="/slow">`)
	}))
	defer server.Close()
	page := StartShared(t).OpenTab(t, Plain)
	page.Open(server.URL)
	page.FollowLink("a")
	if state := ReadValue(page, chromedp.Evaluate[string]("document.readyState")); state != "complete" {
		t.Errorf("the page is %s, want it complete", state)
	}
}

// TestPictureShowsArabicPageInPlace: a picture shows a page that is written from right to left
// where a phone shows it, short or long.
func TestPictureShowsArabicPageInPlace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><html dir="rtl"><head><style>body { margin: 0 0 `+r.URL.Query().Get("below")+
			`px } div { height: 100px; border: solid #f00; border-width: 0 20px }</style></head><body><div></div></body></html>`)
	}))
	defer server.Close()
	page := StartShared(t).OpenTab(t, Phone)
	for below, height := range map[string]int{"0": 844, "3000": 3100} {
		page.Open(server.URL + "?below=" + below)
		picture, err := png.Decode(bytes.NewReader(page.TakeWhole()))
		if err != nil {
			t.Fatalf("%s px below: %v", below, err)
		}
		if size := picture.Bounds().Size(); size.X != 390 || size.Y != height {
			t.Errorf("%s px below: the picture has %v pixels, want 390 × %d", below, size, height)
		}
		for _, x := range []int{5, 385} {
			if r, g, _, _ := picture.At(x, 50).RGBA(); r>>8 != 255 || g != 0 {
				t.Errorf("%s px below: the border isn't at x = %d", below, x)
			}
		}
	}
}

// TestPagesThatReplaceElements: a step is taken again when the page replaces the element that it has found.
func TestPagesThatReplaceElements(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Busy</title><main><p>Busy</p></main>
<script>const next = () => { document.body.innerHTML = "<main><p>Busy</p></main>"; setTimeout(next, 1); }; next()</script>`)
	}))
	defer server.Close()
	page := StartShared(t).OpenTab(t, Phone)
	page.Open(server.URL)
	for range 200 {
		page.ReadText("main")
	}
}
