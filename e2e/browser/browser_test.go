package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
