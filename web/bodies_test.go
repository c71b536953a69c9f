package web_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// TestTooLongAForm (AP-18): whoever sent more than a form may have comes back to its page, and
// with a logo to the form that says how long one may be.
func TestTooLongAForm(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	for _, c := range []struct{ path, from, status, want string }{
		{"/dashboard/methods", b.base + "/dashboard?q=1", "413", `href="/dashboard?q=1">Back to the form`},
		{"/dashboard/methods", "https://evil.example/dashboard?q=1", "413", `href="/dashboard">Back to the form`},
		{"/dashboard/settings/logo", "", "303", "Location: /dashboard/settings?logo=too_large#logo"},
	} {
		got := exchange(t, address, "POST "+c.path+" HTTP/1.1\r\nHost: a\r\nReferer: "+c.from+"\r\nContent-Length: 5000000\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.path, got)
		}
	}
}

// TestLongBodies (AP-18): only members may send a file, so many a minute, and it isn't
// kept. All others, and those beyond, come back to the form before they have sent it.
func TestLongBodies(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	const most, length = 20, 300_000
	head := func(cookie string) string {
		return fmt.Sprintf("POST /dashboard/settings/logo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: %s\r\nContent-Length: %d\r\n\r\n", cookie, length)
	}
	refused := func(who, cookie string) {
		t.Helper()
		if got := exchange(t, address, head(cookie)); !strings.HasPrefix(got, "HTTP/1.1 303") || !strings.Contains(got, "Location: /dashboard/settings?logo=again#logo\r\n") {
			t.Errorf("%s: %q", who, got)
		}
	}
	w := b.signedIn(t)
	for range most + 1 { // who doesn't count
		refused("nobody", "a=b")
		refused("somebody else", "session="+strings.Repeat("x", 43))
	}
	for i := range most {
		if got := exchange(t, address, head(w.cookie)+strings.Repeat("x", length)); !strings.HasPrefix(got, "HTTP/1.1 404") { // there is no such form here
			t.Fatal(i, got)
		}
	}
	refused("one more", w.cookie)
	b.clock.Advance(time.Minute)
	if got := exchange(t, address, head(w.cookie)+strings.Repeat("x", length)); !strings.HasPrefix(got, "HTTP/1.1 404") {
		t.Error(got)
	}
	for name, answer := range map[string]func(*fasthttp.RequestCtx){"handled": b.App().Server().Handler,
		"failed": func(r *fasthttp.RequestCtx) { b.App().Server().ErrorHandler(r, io.ErrUnexpectedEOF) }} {
		var r fasthttp.RequestCtx
		r.Request.Header.SetMethod("POST")
		r.Request.SetRequestURI("/v1/echo")
		r.Request.Header.SetContentType("application/json")
		r.Request.SetBody(make([]byte, length))
		answer(&r)
		if kept := len(r.Request.Body()); kept != 0 {
			t.Errorf("%s: %d bytes are kept", name, kept)
		}
	}
}
