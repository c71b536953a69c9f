package web_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cointill/web"
)

// TestAPINeedsHTTPS (AP-4): where the base URL is https, an API call counts only if a proxy that
// is believed says that it came by https: those that are configured, or this machine itself
// where none is. Everybody else is told what is wrong, and who is to do what.
func TestAPINeedsHTTPS(t *testing.T) {
	const public, loopback = "203.0.113.7", "127.0.0.1"
	for _, c := range []struct {
		proxies []string
		peer    string
		scheme  []string // of each X-Forwarded-Proto
		want    string   // the code; "" for an answer
		says    string
	}{
		{nil, loopback, []string{"https"}, "", ""},
		{nil, loopback, []string{"HTTPS"}, "", ""},
		{nil, "::1", []string{"https"}, "", ""},
		{nil, loopback, []string{"https, https"}, "", ""},
		{nil, loopback, nil, "https_unknown", "send X-Forwarded-Proto: https"},
		{nil, loopback, []string{"http"}, "https_required", "Replace the API key"},
		{nil, loopback, []string{""}, "https_required", "https://pay.example.com"},
		{nil, loopback, []string{"https", "http"}, "https_required", ""},
		{nil, loopback, []string{"https, http"}, "https_required", ""},
		{nil, loopback, []string{"http, https"}, "https_required", ""},
		{nil, public, nil, "https_required", "203.0.113.7, to COINTILL_TRUSTED_PROXIES"},
		{nil, public, []string{"https"}, "https_required", "203.0.113.7, to COINTILL_TRUSTED_PROXIES"},
		{nil, "10.1.2.3", []string{"https"}, "https_required", "10.1.2.3, to COINTILL_TRUSTED_PROXIES"},
		{[]string{"10.0.0.0/8"}, "10.1.2.3", []string{"https"}, "", ""},
		{[]string{"10.0.0.0/8"}, "10.1.2.3", nil, "https_unknown", ""},
		{[]string{"10.0.0.0/8"}, "10.1.2.3", []string{"http"}, "https_required", ""},
		{[]string{"10.0.0.0/8"}, loopback, []string{"https"}, "https_required", "127.0.0.1, to COINTILL_TRUSTED_PROXIES"},
		{[]string{"10.0.0.0/8"}, public, []string{"https"}, "https_required", ""},
	} {
		b := setup(t, web.Config{BaseURL: "https://pay.example.com", TrustedProxies: c.proxies})
		what := fmt.Sprintf("proxies %v, from %s with %q", c.proxies, c.peer, c.scheme)
		header := "Authorization: Bearer sk_test_A\r\n"
		for _, scheme := range c.scheme {
			header += "X-Forwarded-Proto: " + scheme + "\r\n"
		}
		dialFrom := b.listenToPeers(t)
		ask := func(path string) string {
			conn := dialFrom(c.peer)
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+header+"\r\n"); err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(conn)
			if err != nil {
				t.Fatalf("%s: GET %s: %v", what, path, err)
			}
			return string(all)
		}
		answer := ask("/v1/long")
		refused := strings.HasPrefix(answer, "HTTP/1.1 403 ") && strings.Contains(answer, `"code":"`+c.want+`"`) && strings.Contains(answer, c.says)
		if c.want == "" && !strings.HasPrefix(answer, "HTTP/1.1 200 ") || c.want != "" && !refused {
			t.Errorf("%s: want %q, got %.600s", what, c.want+" "+c.says, answer)
		}
		for _, path := range []string{"/healthz", "/readyz", "/pay/" + token} {
			if answer := ask(path); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
				t.Errorf("%s: GET %s is answered with %.100s", what, path, answer)
			}
		}
	}
}

// TestHealthChecksNeedNoHTTPS: the barest health check of a balancer, without any header, is
// answered as ever.
func TestHealthChecksNeedNoHTTPS(t *testing.T) {
	b := setup(t, web.Config{BaseURL: "https://pay.example.com"})
	for _, path := range []string{"/healthz", "/readyz"} {
		conn := b.listenToPeers(t)("10.9.9.9")
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 200 ") {
			t.Errorf("GET %s without a header: %q, %v", path, all, err)
		}
	}
}

// TestPlainBaseTakesPlainCalls: on a developer's machine, where the base URL is plain http, so
// are the calls.
func TestPlainBaseTakesPlainCalls(t *testing.T) {
	b := setup(t, local)
	for _, scheme := range []string{"http", "https"} {
		if answer, body := b.do(t, "GET", "/v1/long", "", "X-Forwarded-Proto", scheme); answer.StatusCode != 200 {
			t.Errorf("with X-Forwarded-Proto %s: %d %.200s", scheme, answer.StatusCode, body)
		}
	}
	if answer, body := b.do(t, "GET", "/v1/long", ""); answer.StatusCode != 200 {
		t.Errorf("without X-Forwarded-Proto: %d %.200s", answer.StatusCode, body)
	}
}
