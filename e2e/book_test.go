package e2e

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

var bookPage = flag.String("book.page", "", "TestBook: only pages whose name begins so")

// TestBook goes through the view book: every page in every state, and the
// customer's pages in every language. Nothing that axe finds, nothing in the
// console (which is where the content security policy complains), no sideways
// scrolling, and the Tab key comes to every visible control. Without -views.all
// each page is looked at in one view only, another for each of its neighbours.
func TestBook(t *testing.T) {
	t.Parallel()
	names, server := serveBook(t)
	chromium := browser.StartShared(t)
	looks := []string{"phone", "phone-dark", "desktop", "desktop-dark"}
	harness.RunEach(t, views, func(t *testing.T, look string, view browser.View) {
		page := chromium.OpenTab(t, view)
		for n, name := range names {
			if !strings.HasPrefix(name, *bookPage) || !*allViews && looks[n%len(looks)] != look {
				continue
			}
			page.Open(server.URL + "/" + name + ".html")
			found := page.ListFaults()
			if !view.Dark { // colours move nothing
				found = append(found, page.ListUnreachable()...)
			}
			for _, fault := range found {
				t.Errorf("%s: %s", name, fault)
			}
			page.TakeShot("book-" + name + "-" + look)
		}
	})
}

// serveBook serves the view book of this checkout.
func serveBook(t *testing.T) (names []string, server *httptest.Server) {
	t.Helper()
	return serveBookOf(t, harness.FindRoot())
}

// serveBookOf writes the view book of a checkout and serves it as the product serves its pages.
// What pages ask for while they stand there gets no answer, and a page that goes to the
// merchant after five seconds waits ten minutes, so that it stays while it is looked at.
func serveBookOf(t *testing.T, checkout string) (names []string, server *httptest.Server) {
	t.Helper()
	dir := t.TempDir()
	write := exec.Command("go", "test", "-count=1", "-run", "^TestBook$", "./views")
	write.Dir = checkout
	write.Env = append(os.Environ(), "COINTILL_VIEWBOOK="+dir)
	if text, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	files, err := filepath.Glob(dir + "/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		// Mails are read in mail programs, which know no page's rules.
		if !strings.HasSuffix(name, ".dark") && name != "index" && (!strings.HasPrefix(name, "mail-") || name == "mail-page") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	root, err := filepath.Abs(filepath.Join(checkout, "static"))
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		switch {
		case strings.HasPrefix(r.URL.Path, "/static/"):
			http.ServeFile(w, r, filepath.Join(root, filepath.Clean(strings.TrimPrefix(r.URL.Path, "/static"))))
		case strings.HasSuffix(r.URL.Path, ".html"):
			text, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(strings.NewReplacer("file://"+root+"/", "/static/", `data-leave="5"`, `data-leave="600"`).Replace(string(text))))
		case strings.HasSuffix(r.URL.Path, "/events"):
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return names, server
}
