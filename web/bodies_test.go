package web_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"cointill/core/account"
	"cointill/core/account/auth"
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
		got := exchange(t, address, "POST "+c.path+" HTTP/1.1\r\nHost: a\r\nReferer: "+c.from+"\r\nContent-Length: 5000000\r\n\r\n"+strings.Repeat("x", 5000000))
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.path, got)
		}
	}
}

// TestLongBodies (AP-18): only members may send a file, those of a business so many a
// minute, and it isn't kept. All others, and those beyond, come back to the form before
// they have sent it. What is no longer than any form doesn't count.
func TestLongBodies(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	const most, length = 10, 300_000
	send := func(cookie string, length, sent int) string {
		t.Helper()
		return exchange(t, address, fmt.Sprintf("POST /dashboard/settings/logo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: %s\r\nContent-Length: %d\r\n\r\n%s",
			cookie, length, strings.Repeat("x", sent)))
	}
	refused := func(who, cookie string) {
		t.Helper()
		if got := send(cookie, length, 0); !strings.HasPrefix(got, "HTTP/1.1 303") || !strings.Contains(got, "Location: /dashboard/settings?logo=again#logo\r\n") {
			t.Errorf("%s: %q", who, got)
		}
	}
	taken := func(who, cookie string, length int) {
		t.Helper()
		if got := send(cookie, length, length); !strings.HasPrefix(got, "HTTP/1.1 404") { // there is no such form here
			t.Errorf("%s: %q", who, got)
		}
	}
	w := b.signedIn(t)
	visitor := auth.Session{Token: strings.Repeat("v", 43), Data: "{}", Expires: b.clock.Now().Add(time.Hour)}
	if err := b.Sessions.SaveSession(t.Context(), visitor); err != nil {
		t.Fatal(err)
	}
	for range most + 1 { // what doesn't count
		refused("nobody", "a=b")
		refused("somebody else", "session="+strings.Repeat("x", 43))
		refused("a visitor", "session="+visitor.Token)
		taken("a member, with a small file", w.cookie, 64<<10)
		send(w.cookie, 10_000_000, 0)
	}
	for range most {
		taken("a member", w.cookie, length)
	}
	refused("one more", w.cookie)
	_, _, err := b.Account.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Other", Name: "Bo", Email: "bo@example.com", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	taken("another business", b.signIn(t, "bo@example.com").cookie, length)
	b.clock.Advance(time.Minute)
	taken("a minute later", w.cookie, length)
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

// TestLongerBodies (AP-18): a form with a file may have more, and a minute, when a member
// sends it; with chunks too, whose length isn't told before. All members together send a
// hundred a minute.
func TestLongerBodies(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	asks := func(path, cookie string, length int) fasthttp.RequestConfig {
		var header fasthttp.RequestHeader
		header.SetMethod("POST")
		header.SetRequestURI(path)
		header.Set("Cookie", cookie)
		header.SetContentLength(length)
		return b.Longer(&header)
	}
	const path, most = "/dashboard/settings/logo", 512<<10 + 64<<10
	for name, c := range map[string]struct {
		path, cookie string
		length       int
		longer       bool
	}{
		"a file": {path, w.cookie, most, true}, "in chunks": {path, w.cookie, -1, true},
		"beyond its limit": {path, w.cookie, most + 1, false}, "as short as any": {path, w.cookie, 64 << 10, false},
		"somewhere else": {path + "/remove", w.cookie, most, false}, "nobody's": {path, "a=b", most, false},
	} {
		got := asks(c.path, c.cookie, c.length)
		if want := (fasthttp.RequestConfig{MaxRequestBodySize: most, ReadTimeout: time.Minute}); (got == want) != c.longer || !c.longer && got != (fasthttp.RequestConfig{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for range 98 { // beside two files of before
		b.Limiter.Take("logos", 100)
	}
	if got := asks(path, w.cookie, most); got.MaxRequestBodySize != 0 {
		t.Errorf("a hundred and first: %+v", got)
	}
}

// TestRefusedBodiesEnd (AP-18): of a body that is refused no more is read than anybody
// would send by mistake.
func TestRefusedBodiesEnd(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	conn := dial(t, address)
	if _, err := io.WriteString(conn, "POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for sent := 0; ; sent++ {
		if _, err := conn.Write(piece); err != nil {
			return
		}
		if sent > 64 {
			t.Fatal("64 MiB were taken")
		}
	}
}
