package web_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
)

// TestTooLongAForm (AP-18): a user who sent more than a form may have comes back to its page, and
// with a logo to the form that says how long one may be.
func TestTooLongAForm(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	for _, c := range []struct{ path, from, status, want string }{
		{"/dashboard/methods", b.base + "/dashboard?q=1", "413", `href="/dashboard?q=1">Back to the form`},
		{"/dashboard/methods", b.base + "/dashboard", "413", ">Too large</h1>"},
		{"/dashboard/sends/file", "", "413", "The file is larger than 1 MiB."},
		{"/dashboard/sends/SND_1/sign/check", "", "413", "A signed transaction may have at most 400,000 bytes."},
		{"/v1/sends/SND_1/broadcast", "", "413", `"A signed transaction may have at most 400,000 bytes."`},
		{"/v1/sends", "", "413", `"The body may have at most 64 KiB."`},
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

// TestLongerBodies (AP-18): a form with a file and a signed transaction may have more, and a minute, when a member
// or a key sends it; with chunks too, whose length isn't told before. All members together send a
// hundred a minute.
func TestLongerBodies(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	asks := func(path, cookie, key string, length int) fasthttp.RequestConfig {
		var header fasthttp.RequestHeader
		header.SetMethod("POST")
		header.SetRequestURI(path)
		header.Set("Cookie", cookie)
		header.Set("Authorization", "Bearer "+key)
		header.SetContentLength(length)
		return b.Longer(&header)
	}
	_, key, err := b.keys.CreateKey(t.Context(), b.owner(t), "shop")
	if err != nil {
		t.Fatal(err)
	}
	_, reading, err := b.keys.CreateRestrictedKey(t.Context(), b.owner(t), "reads", []apikey.Permission{apikey.ReadSends})
	if err != nil {
		t.Fatal(err)
	}
	const path, most = "/dashboard/settings/logo", 512<<10 + 64<<10
	for place, limit := range map[string]int{path: 512 << 10, "/dashboard/sends/file": 1 << 20,
		"/dashboard/sends/SND_1/sign/check": 400_000, "/dashboard/sends/together/7/check": 400_000,
		"/v1/sends/SND_1/broadcast": 400_000} {
		limit += 64 << 10
		want := fasthttp.RequestConfig{MaxRequestBodySize: limit, ReadTimeout: time.Minute}
		if got := asks(place, w.cookie, key, limit); got != want {
			t.Errorf("%s: %d bytes get %+v, want %+v", place, limit, got, want)
		}
		for who, got := range map[string]fasthttp.RequestConfig{"one byte more": asks(place, w.cookie, key, limit+1),
			"nobody": asks(place, "a=b", "", limit), "a key that may only read": asks(place, "a=b", reading, limit),
			"a place below": asks(place+"/x", w.cookie, key, limit), "as short as any": asks(place, w.cookie, key, 64<<10)} {
			if got != (fasthttp.RequestConfig{}) {
				t.Errorf("%s, %s: %+v, want what all have", place, who, got)
			}
		}
	}
	for _, place := range []string{"/dashboard/sends", "/dashboard/sends/parts", "/dashboard/sends/SND_1/sign",
		"/v1/sends", "/v1/sends/SND_1/transaction", "/v1/payments"} {
		if got := asks(place, w.cookie, key, 64<<10+1); got != (fasthttp.RequestConfig{}) {
			t.Errorf("%s: %+v, want what all have", place, got)
		}
	}
	for name, c := range map[string]struct {
		path, cookie string
		length       int
		longer       bool
	}{
		"a file": {path, w.cookie, most, true}, "in chunks": {path, w.cookie, -1, true},
		"beyond its limit": {path, w.cookie, most + 1, false}, "as short as any": {path, w.cookie, 64 << 10, false},
		"somewhere else": {path + "/remove", w.cookie, most, false}, "nobody's": {path, "a=b", most, false},
	} {
		got := asks(c.path, c.cookie, "", c.length)
		if want := (fasthttp.RequestConfig{MaxRequestBodySize: most, ReadTimeout: time.Minute}); (got == want) != c.longer || !c.longer && got != (fasthttp.RequestConfig{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for range 97 { // beside three files of before
		b.Limiter.Take("logos", 100)
	}
	if got := asks(path, w.cookie, "", most); got.MaxRequestBodySize != 0 {
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

// TestSharesOfLongBodies (AP-18): a business sends so many long bodies of a kind a minute, and all together so many.
// One more has to wait, and a stranger has to sign in.
func TestSharesOfLongBodies(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	w := b.signedIn(t)
	_, key, err := b.keys.CreateKey(t.Context(), b.owner(t), "shop")
	if err != nil {
		t.Fatal(err)
	}
	send := func(path, headers string) string {
		t.Helper()
		return exchange(t, address, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\nContent-Length: "+
			"70000\r\n\r\n%s", path, headers, strings.Repeat("x", 70_000)))
	}
	const file, signed = "/dashboard/sends/file", "/dashboard/sends/SND_1/sign/check"
	const broadcast = "/v1/sends/SND_1/broadcast"
	member, program := "Cookie: "+w.cookie, "Authorization: Bearer "+key+"\r\nContent-Type: application/json"
	expect := func(what, answer, status, says string) {
		t.Helper()
		if !strings.HasPrefix(answer, "HTTP/1.1 "+status) || !strings.Contains(answer, says) {
			t.Errorf("%s: %.600q, want %s with %q", what, answer, status, says)
		}
	}
	expect("nobody's file", send(file, "Cookie: a=b"), "303", "Location: /sign-in\r\n")
	expect("nobody's transaction", send(broadcast, "X-A: b"), "401", "invalid_api_key")
	for path, c := range map[string]struct {
		headers    string
		kind       string
		own, total int64
	}{
		file: {member, "payout files", 10, 25}, signed: {member, "signed", 20, 60}, broadcast: {program, "signed", 20, 60},
	} {
		for range c.own {
			expect(path, send(path, c.headers), "404", "") // there is no such form here
		}
		expect(path+", one more", send(path, c.headers), "429", "Retry-After: ")
		b.clock.Advance(time.Minute)
		for range c.total - 1 {
			b.Limiter.Take(c.kind, c.total)
		}
		expect(path+", the last of all", send(path, c.headers), "404", "")
		expect(path+", one more of all", send(path, c.headers), "429", "Retry-After: ")
		b.clock.Advance(time.Minute)
	}
}
