package trace

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestCollector: what a collector doesn't take is said, and its headers, which
// are secrets, don't follow a redirect to somebody else.
func TestCollector(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	for _, c := range []struct {
		code int
		want string
	}{{200, ""}, {204, ""}, {307, "307"}, {400, "400"}, {503, "503"}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(c.code)
		}))
		t.Cleanup(server.Close)
		said := ""
		if err := newCollector(server.URL, map[string]string{"Authorization": "Bearer word"}).UploadTraces(t.Context(), []*spans.ResourceSpans{{}}); err != nil {
			said = err.Error()
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%d: %q", c.code, said)
		}
	}
}
