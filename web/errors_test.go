package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"cointill/web"
)

var local = web.Config{BaseURL: "http://127.0.0.1:8080"}

// alwaysThere are headers that no answer may lack.
func alwaysThere(t *testing.T, answer *http.Response) {
	t.Helper()
	for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
		"Cross-Origin-Resource-Policy", "Permissions-Policy", "Cache-Control", "X-Frame-Options"} {
		if answer.Header.Get(name) == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if !strings.HasPrefix(answer.Header.Get("X-Request-Id"), "req_") {
		t.Error("no request id")
	}
}

// TestEveryFailureUnderV1IsTheEnvelope (AP-5, AP-23, AP-25) sends what is wrong in every
// way: each answer is the envelope, with all headers and without a cause.
func TestEveryFailureUnderV1IsTheEnvelope(t *testing.T) {
	b := setup(t, local)
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, _ = zip.Write(make([]byte, 5<<20)) // writes to memory
	_ = zip.Close()
	cases := []struct {
		method, path, body, code string
		status                   int
		headers                  []string
	}{
		{"GET", "/v1", "", "not_found", 404, nil},
		{"GET", "/v1/nothing", "", "not_found", 404, nil},
		{"GET", "/v1/echo/", "", "not_found", 404, nil},
		{"GET", "/v1/ECHO", "", "not_found", 404, nil},
		{"GET", "/v1/echo", "", "method_not_allowed", 405, nil},
		{"FROB", "/v1/echo", "", "method_not_allowed", 405, nil},
		{"POST", "/v1/echo", "{}", "unsupported_media_type", 415, nil},
		{"POST", "/v1/echo", "a=b", "unsupported_media_type", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"PATCH", "/v1/echo", "{}", "unsupported_media_type", 415, []string{"Content-Type", "text/plain"}},
		{"POST", "/v1/echo", "{}", "unsupported_media_type", 415, []string{"Content-Type", "application/json; charset=latin1"}},
		{"POST", "/v1/echo", "<a/>", "unsupported_media_type", 415, []string{"Content-Type", "application/xml"}},
		{"POST", "/v1/echo", "<a/>", "unsupported_media_type", 415, []string{"Content-Type", "text/xml; charset=utf-8"}},
		{"POST", "/v1/echo", "{}", "unsupported_media_type", 415, []string{"Content-Type", "application/vnd.api+json"}},
		{"POST", "/v1/echo", "{}", "unsupported_media_type", 415, []string{"Content-Type", "multipart/form-data; boundary=a"}},
		{"POST", "/v1/echo", bomb.String(), "unsupported_media_type", 415, []string{"Content-Type", "application/json", "Content-Encoding", "gzip"}},
		{"GET", "/v1/fail/invalid", "", "validation_failed", 422, nil},
		{"GET", "/v1/fail/conflict", "", "duplicate", 409, nil},
		{"GET", "/v1/fail/unauthenticated", "", "invalid_api_key", 401, nil},
		{"GET", "/v1/fail/forbidden", "", "role", 403, nil},
		{"GET", "/v1/fail/gone", "", "gone", 410, nil},
		{"GET", "/v1/fail/limited", "", "rate_limited", 429, nil},
		{"GET", "/v1/fail/unavailable", "", "no_rate", 503, nil},
		{"GET", "/v1/fail/late", "", "unavailable", 503, nil},
		{"GET", "/v1/fail/unreadable", "", "unreadable_json", 400, nil},
		{"GET", "/v1/fail/unknown", "", "internal_error", 500, nil},
		{"GET", "/v1/panic", "", "internal_error", 500, nil},
	}
	for _, c := range cases {
		answer, body := b.do(t, c.method, c.path, c.body, c.headers...)
		var envelope struct {
			Status    *bool               `json:"status"`
			Message   string              `json:"message"`
			Code      string              `json:"code"`
			Errors    map[string][]string `json:"errors"`
			RequestID string              `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(body), &envelope); err != nil {
			t.Errorf("%s %s: %v: %.200s", c.method, c.path, err, body)
			continue
		}
		if answer.StatusCode != c.status || envelope.Code != c.code || envelope.Status == nil || *envelope.Status || envelope.Message == "" ||
			envelope.RequestID != answer.Header.Get("X-Request-Id") || (len(envelope.Errors) > 0) != (c.status == 422) {
			t.Errorf("%s %s: %d %s", c.method, c.path, answer.StatusCode, body)
		}
		if strings.Contains(body, canary) {
			t.Errorf("%s %s shows a cause: %s", c.method, c.path, body)
		}
		alwaysThere(t, answer)
	}
	if !strings.Contains(b.log.String(), canary) {
		t.Error("the causes are not in the log")
	}
	answer, _ := b.do(t, "GET", "/v1/fail/limited", "")
	if answer.Header.Get("Retry-After") != "2" {
		t.Errorf("answer.Header = %v", answer.Header)
	}
	if answer, _ := b.do(t, "GET", "/v1/fail/unauthenticated", ""); answer.Header.Get("WWW-Authenticate") == "" {
		t.Errorf(`b.do(t, "GET", "/v1/fail/unauthenticated", ""): answer.Header = %v`, answer.Header)
	}
	if answer, _ := b.do(t, "GET", "/v1/echo", ""); !strings.Contains(answer.Header.Get("Allow"), "POST") {
		t.Errorf(`b.do(t, "GET", "/v1/echo", ""): answer.Header = %v`, answer.Header)
	}
}

func TestBodiesThatAreTaken(t *testing.T) {
	b := setup(t, local)
	for _, kind := range []string{"application/json", "application/json; charset=UTF-8", "Application/JSON"} {
		for _, body := range []string{"{}", strings.Repeat("x", 64<<10)} {
			if answer, got := b.do(t, "POST", "/v1/echo", body, "Content-Type", kind); answer.StatusCode != 200 || got != body {
				t.Errorf(`b.do(t, "POST", "/v1/echo", body, "Content-Type", kind): kind = %v, len(body) = %v, answer.StatusCode = %v`, kind, len(body), answer.StatusCode)
			}
		}
	}
	if answer, _ := b.do(t, "POST", "/v1/echo", ""); answer.StatusCode != 200 {
		t.Error("a POST without a body needs no content type:", answer.StatusCode)
	}
}

// TestFailuresElsewhereArePages (AP-21, AP-23, AP-25): each is a page with its headers
// and its request's id, and without a cause.
func TestFailuresElsewhereArePages(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	for path, status := range map[string]int{"/nothing": 404, "/pay/unknown": 404, "/dashboard/panic": 500, "/pay/" + token + "/late": 503, "/static/x/none.css": 404,
		"/v1x": 404, "/%2e%2e/v1": 404, "/%00": 404, "//dashboard": 404, "/dashboard/": 404, "/Dashboard": 404} {
		answer, body := w.get(path)
		if answer.StatusCode != status || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") ||
			!strings.Contains(body, answer.Header.Get("X-Request-Id")) || strings.Contains(body, canary) {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
		alwaysThere(t, answer)
	}
	if answer, body := b.do(t, "PUT", "/dashboard", ""); answer.StatusCode != 405 || !strings.Contains(body, "<html") {
		t.Errorf(`b.do(t, "PUT", "/dashboard", ""): answer.StatusCode = %v, body = %v`, answer.StatusCode, body)
	}
}

// TestLogsKeepTokensShort (AP-26): neither a payment page's token nor a query stands in
// the log whole.
func TestLogsKeepTokensShort(t *testing.T) {
	b := setup(t, local)
	b.do(t, "GET", "/pay/"+token+"?email=secret@example.com", "")
	log := b.log.String()
	if strings.Contains(log, token) || strings.Contains(log, "secret@") || !strings.Contains(log, "/pay/tokent…") || !strings.Contains(log, "route=/pay/:token") {
		t.Errorf("log = %v", log)
	}
}
