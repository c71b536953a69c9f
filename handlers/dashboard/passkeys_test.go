package dashboard_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/account/auth/passkeytest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const passkeysAt = accountAt + "/passkeys"

var optionsIn = regexp.MustCompile(`data-options="([^"]+)"`)

// passkeyPages makes a passkey on its pages, as the script does.
func passkeyPages(t *testing.T, b *servertest.Browser, name string) *passkeytest.Authenticator {
	t.Helper()
	setup := b.PostFrom(passkeysAt, passkeysAt, url.Values{"name": {name}, "password": {servertest.Password}})
	expect(t, setup, 200, "Create passkey", name, "js/passkeys.js")
	a := passkeytest.New(servertest.Base)
	made := a.Make(t, []byte(html.UnescapeString(optionsIn.FindStringSubmatch(setup.Body)[1])))
	leads(t, b.PostFrom(passkeysAt, passkeysAt+"/confirm", url.Values{"credential": {string(made)}}), passkeysAt)
	return a
}

// asks has a browser asked for a passkey, as the script does.
func asks(t *testing.T, b *servertest.Browser) []byte {
	t.Helper()
	a := b.PostFrom("/sign-in", "/sign-in/passkey/begin", nil)
	expect(t, a, 200)
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Fatalf(`a.Header.Get("Content-Type"): kind = %v`, kind)
	}
	return []byte(a.Body)
}

// TestPasskeyPages adds, uses, renames and removes a passkey.
func TestPasskeyPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get(accountAt), 200, "None. A passkey lets you sign in with your fingerprint")
		expect(t, b.PostFrom(passkeysAt, passkeysAt, url.Values{"name": {"Phone"}, "password": {"not the passphrase"}}), 422, "This isn't your password.", `value="Phone"`)
		s.Clock.Advance(time.Minute)
		expect(t, b.PostFrom(passkeysAt, passkeysAt, url.Values{"name": {""}, "password": {servertest.Password}}), 422, "Is required.")
		before := b.NewWindow()
		a := passkeyPages(t, b, "Ama's phone")
		leads(t, before.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount") // the session has another id
		expect(t, b.Get(accountAt), 200, "1 passkey.")
		expect(t, b.Get(passkeysAt), 200, "Ama's phone", "Never")
		expect(t, b.PostFrom(passkeysAt, passkeysAt+"/confirm", url.Values{"credential": {"{}"}}), 409, "Start again.")

		w := s.NewBrowser()
		visitor := w.NewWindow()
		answer := a.Answer(t, asks(t, w))
		leads(t, w.PostFrom("/sign-in?next=%2Fdashboard%2Fkeys", "/sign-in/passkey", url.Values{"credential": {string(answer)}, "next": {"/dashboard/keys"}}), "/dashboard/keys")
		expect(t, w.Get("/dashboard/keys"), 200, "No API keys yet")
		leads(t, visitor.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
		again := s.NewBrowser()
		expect(t, again.PostFrom("/sign-in", "/sign-in/passkey", url.Values{"credential": {string(answer)}}), 409, "The request has expired", "Sign in with a passkey")
		asks(t, again)
		expect(t, again.PostFrom("/sign-in", "/sign-in/passkey", url.Values{"credential": {string(answer)}}), 401, "does not sign anybody in here")
		leads(t, again.Get("/dashboard"), "/sign-in?next=%2Fdashboard")
		outside := s.NewBrowser()
		outside.Get("/sign-in")
		expect(t, outside.Post("/sign-in/passkey/begin", url.Values{"csrf": {"forged"}}), 403)
		expect(t, outside.Post("/sign-in/passkey", url.Values{"credential": {string(answer)}}), 403)
		leads(t, outside.Get("/sign-in/passkey"), "/sign-in")

		at := passkeysAt + "/1"
		expect(t, b.Get(at), 200, "On one device only", `value="Ama&#39;s phone"`)
		expect(t, b.PostFrom(at, at, url.Values{"name": {""}}), 422, "Is required.")
		leads(t, b.PostFrom(at, at, url.Values{"name": {"<b>Phone</b>"}}), passkeysAt)
		expect(t, b.Get(passkeysAt), 200, "&lt;b&gt;Phone&lt;/b&gt;", "1 Mar 2026")
		expect(t, b.PostFrom(at, at+"/remove", url.Values{"password": {"not the passphrase"}}), 422, "This isn't your password.")
		s.Clock.Advance(time.Minute)
		leads(t, b.PostFrom(at, at+"/remove", url.Values{"password": {servertest.Password}}), passkeysAt)
		leads(t, w.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
		expect(t, b.Get(at), 404)
		s.Clock.Advance(time.Minute)
		expect(t, again.PostFrom("/sign-in", "/sign-in/passkey", url.Values{"credential": {string(a.Answer(t, asks(t, again)))}}), 401, "does not sign anybody in here")
		for range 20 {
			again.PostFrom("/sign-in", "/sign-in/passkey/begin", nil)
		}
		if limited := again.PostFrom("/sign-in", "/sign-in/passkey/begin", nil); limited.Status != 429 || limited.Header.Get("Retry-After") == "" {
			t.Errorf("%d: %s", limited.Status, limited.VisibleText())
		}
	})
}

// TestPasskeyOfStrangers: the pages of one user's passkey are that user's alone.
func TestPasskeyOfStrangers(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		passkeyPages(t, s.SignIn(ama), "Phone")
		s.CreateBusiness("Bayo's Shop", bayo)
		stranger := s.SignIn(bayo)
		at := passkeysAt + "/1"
		expect(t, stranger.Get(at), 404)
		expect(t, stranger.PostFrom(passkeysAt, at, url.Values{"name": {"Mine"}}), 404)
		expect(t, stranger.PostFrom(passkeysAt, at+"/remove", url.Values{"password": {servertest.Password}}), 404)
		if n := rows(s, &models.Passkey{}, "name = 'Phone'"); n != 1 {
			t.Error("a stranger changed it")
		}
	})
}
