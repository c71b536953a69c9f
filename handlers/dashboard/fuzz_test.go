package dashboard_test

import (
	"flag"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models/modelstest"
)

// fuzzed is a server with Ama's business and Bayo's, and who asks it.
type fuzzed struct {
	*servertest.Server
	own    scope.Scope       // Ama's business in test
	other  scope.Scope       // Bayo's
	things map[string]string // of it, by route
	ama    *servertest.Browser
	token  string // of Ama's forms
}

func fuzz(f *testing.F) *fuzzed {
	f.Helper()
	s := servertest.New(f, modelstest.Open(f, os.Getenv("COINTILL_TEST_DATABASE_URL") != "", time.Now), customerPages...)
	s.UseMailServer()
	z := &fuzzed{Server: s, own: s.CreateBusiness("Ama's Shop", ama)}
	z.other = s.CreateBusiness("Bayo's Shop", bayo)
	z.signIn()
	leads(f, upload(f, z.ama, picture(f, "png", 64, 64)), "/dashboard/settings#logo")
	z.things = owned(f, s, z.own)
	return z
}

func (z *fuzzed) signIn() {
	z.ama = z.SignIn(ama)
	z.token = asking(z.T, z.ama, scope.Test).Get("csrf")
}

// send asks as an input's test. Whoever waited long enough may ask again, and
// whose session is over signs in for the next one.
func (z *fuzzed) send(t *testing.T, who identity, r *http.Request) servertest.Answer {
	z.T = t
	z.Clock.Advance(10 * time.Second)
	if who.browser == nil {
		who.browser = z.ama
	}
	if who.key != "" {
		r.Header.Set("Authorization", "Bearer "+who.key)
	}
	a := who.browser.SendRequest(r)
	if strings.HasPrefix(a.Location, "/sign-in") && who.browser == z.ama {
		z.signIn()
	}
	return a
}

// isFuzzing reports whether inputs are made of the seeds. Go then measures the coverage of
// each seed, which takes as long as ten inputs: some seeds are enough. Without it all are tried.
func isFuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// FuzzForms (AP-7) sends anything as any form of ours, with a good token:
// it is taken, or refused with a page, and nothing of it runs in that page.
//
//fuzz:inputs 1500
func FuzzForms(f *testing.F) {
	z := fuzz(f)
	var paths []string
	for _, r := range everyRow(f) {
		if r.method == http.MethodPost && !strings.HasPrefix(r.path, "/v1/") && !strings.Contains(r.path, "sessions/end") && r.path != "/sign-out" {
			paths = append(paths, r.at(z.things))
		}
	}
	for _, form := range formsOfText(f, z.Server, z.own) {
		at := slices.Index(paths, form.path)
		if at < 0 {
			paths = append(paths, form.path)
			at = len(paths) - 1
		}
		f.Add(uint8(at), form.base.Encode())
		for i, name := range slices.Sorted(maps.Keys(hostile)) {
			if isFuzzing() && (i+at)%len(hostile) != 0 {
				continue
			}
			values := url.Values{}
			for _, field := range strings.Fields(form.fields) {
				values.Set(field, hostile[name][:min(len(hostile[name]), 200)])
			}
			f.Add(uint8(at), values.Encode())
		}
	}
	for i := range paths {
		if isFuzzing() && i%4 != 0 {
			continue
		}
		f.Add(uint8(i), "")
		f.Add(uint8(i), "created_after=2026-03-01T11:00&created_before=%00&endpoint=x&types=payment.*&url=https://u:p@[::1]:25/%0d%0a&type=a&active=on&%zz&=&;a&a[]=1")
	}
	f.Fuzz(func(t *testing.T, form uint8, body string) {
		at := paths[int(form)%len(paths)]
		r := httptest.NewRequest(http.MethodPost, at, strings.NewReader(body+"&csrf="+url.QueryEscape(z.token)))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		a := z.send(t, identity{}, r)
		if a.Status == http.StatusForbidden && !strings.HasSuffix(at, "/simulate") && strings.Contains(a.Body, "too old") && !strings.Contains(body, "csrf") {
			t.Errorf("%s %q: the form did not count: %s", at, body, a.VisibleText())
		}
		harmless(t, at+" "+body, a)
	})
}

// FuzzAddresses (AP-1, AP-20, AP-21) asks for any path and query, as nobody, as an owner
// and with another business's key: the server answers each, and only the owner is told
// anything of Ama's.
//
//fuzz:inputs 1500
func FuzzAddresses(f *testing.F) {
	z := fuzz(f)
	_, key, err := z.Keys.CreateKey(f.Context(), z.other, "Bayo's")
	z.FailOn(err)
	w := town{things: map[string]map[string]string{"Ama": z.things}}
	private, open := w.others(""), []string{last(z.things["/pay/:token"]), last(z.things["/l/:code"]),
		last(z.things["/refund/:token"]), last(z.things["/refund/confirm/:token"])} // who has these may look
	people := []identity{{name: "nobody", browser: z.NewBrowser()}, {name: "Bayo's key", browser: z.NewBrowser(), key: key}, {name: "Ama"}}
	for n, r := range everyRow(f) {
		if r.method != http.MethodGet || endless(r.path) {
			continue
		}
		at := r.at(z.things)
		for i, address := range []string{at, strings.Replace(at, "/", "//", 2), at[:max(1, len(at)-8)], at + "/../%2e%2e/%2E./payments", "/static/..%2f" + strings.ReplaceAll(at[1:], "/", "%2F") + "%00",
			at + "?q=%00%ff&status=successful&status[]=x&from=2026-02-30&to=9999-12-31&min=1e9&max=-1&cursor=AAAA&before=-9223372036854775808&limit=0&period=all&currency=';--&types=%25_"} {
			if !isFuzzing() || (n+i)%6 == 0 {
				f.Add(uint8(n+i), address)
			}
		}
	}
	f.Fuzz(func(t *testing.T, who uint8, address string) {
		if !strings.HasPrefix(address, "/") || endless(address) || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) || len(address) > 6_000 {
			return // another request, or none
		}
		asks := people[int(who)%len(people)]
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RequestURI = address
		a := z.send(t, asks, r)
		if a.Status >= 500 || strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			harmless(t, asks.name+" "+address, a)
		}
		if asks.name == "Ama" || slices.ContainsFunc(open, func(secret string) bool { return strings.Contains(address, secret) }) {
			return
		}
		for _, name := range private {
			if strings.Contains(a.Body, name) && !strings.Contains(address, name) {
				t.Errorf("%s asks for %q and is told of %s", asks.name, address, name)
			}
		}
	})
}
