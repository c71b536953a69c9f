package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cointill/models"
	"cointill/models/modelstest"
	"cointill/web"
)

func TestCookieAttributes(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8080":   "session=*; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
		"http://localhost:8080":   "session=*; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
		"https://pay.example.com": "__Host-session=*; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax",
	} {
		b := setup(t, web.Config{BaseURL: base})
		answer, _ := b.do(t, "GET", "/sign-in", "")
		lines := answer.Header.Values("Set-Cookie")
		if len(lines) != 1 {
			t.Fatalf("lines = %v", lines)
		}
		name, rest, _ := strings.Cut(lines[0], "=")
		value, attributes, _ := strings.Cut(rest, ";")
		expires := strings.Index(attributes, "Expires=") // gorilla writes both; the date is Max-Age again
		if expires >= 0 {
			_, after, _ := strings.Cut(attributes[expires:], "; ")
			attributes = attributes[:expires] + after
		}
		if got := name + "=*;" + attributes; got != want || len(value) != 43 {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
		if hsts := answer.Header.Get("Strict-Transport-Security"); (hsts != "") != strings.HasPrefix(base, "https") {
			t.Errorf("%s: HSTS %q", base, hsts)
		}
	}
}

// TestSignInRotatesTheSession (AP-6, AP-22): a cookie from before signing in, a made-up
// one and one from before signing out open nothing.
func TestSignInRotatesTheSession(t *testing.T) {
	b := setup(t, local)
	w := &browser{bench: b, t: t}
	w.get("/sign-in")
	planted := w.cookie
	var rows int64
	b.db.Read(t.Context()).Model(&models.Session{}).Count(&rows)
	if rows != 0 {
		t.Error("a visitor costs a row")
	}
	answer, _ := w.post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}, "next": {"https://evil.example"}})
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/dashboard" || w.cookie == planted {
		t.Fatalf("answer.StatusCode = %v, answer.Header = %v", answer.StatusCode, answer.Header)
	}
	if _, body := w.get("/dashboard"); !strings.Contains(body, "Welcome Ada") || !strings.Contains(body, " test") {
		t.Errorf(`w.get("/dashboard"): body = %v`, body)
	}
	if _, body := w.get("/dashboard"); strings.Contains(body, "Welcome") {
		t.Error("the flash is shown twice")
	}
	signedIn := w.cookie
	for _, cookie := range []string{planted, "session=" + strings.Repeat("A", 43), "session=x", ""} {
		if answer, _ := b.do(t, "GET", "/dashboard?q=1", "", "Cookie", cookie); answer.StatusCode != 303 || answer.Header.Get("Location") != "/sign-in?next=%2Fdashboard%3Fq%3D1" {
			t.Error(cookie, answer.StatusCode, answer.Header.Get("Location"))
		}
	}
	if answer, _ := w.post("/sign-out", url.Values{}); answer.StatusCode != 303 || !strings.Contains(answer.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf(`w.post("/sign-out", url.Values{}): answer.StatusCode = %v, answer.Header = %v`, answer.StatusCode, answer.Header)
	}
	if answer, _ := b.do(t, "GET", "/dashboard", "", "Cookie", signedIn); answer.StatusCode != 303 {
		t.Error("a copied cookie works after sign-out")
	}
}

func TestSessionIsFreshAtEachRequest(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	w.get("/dashboard")
	if answer, _ := w.post("/dashboard/domain", url.Values{"domain": {"live"}}); answer.StatusCode != 303 {
		t.Fatalf(`w.post("/dashboard/domain", url.Values{"domain": {"live"}}): answer.StatusCode = %v`, answer.StatusCode)
	}
	if _, body := w.get("/dashboard"); !strings.Contains(body, " live") {
		t.Errorf(`w.get("/dashboard"): body = %v`, body)
	}
	if answer, _ := w.post("/dashboard/domain", url.Values{"domain": {"staging"}}); answer.StatusCode != 404 {
		t.Errorf(`w.post("/dashboard/domain", url.Values{"domain": {"staging"}}): answer.StatusCode = %v`, answer.StatusCode)
	}
	b.db.Exec(t.Context()).Model(&models.Member{}).Where("1 = 1").Update("role", "finance")
	if answer, _ := w.post("/dashboard/methods", url.Values{}); answer.StatusCode != 403 {
		t.Error("a role that was taken away still acts:", answer.StatusCode)
	}
	if answer, _ := b.do(t, "GET", "/dashboard", "", "HX-Request", "true"); answer.StatusCode != 401 || answer.Header.Get("HX-Redirect") != "/sign-in?next=%2Fdashboard" {
		t.Errorf(`b.do(t, "GET", "/dashboard", "", "HX-Request", "true"): answer.StatusCode = %v, answer.Header = %v`, answer.StatusCode, answer.Header)
	}
	if err := b.Sessions.RevokeUser(t.Context(), b.user.ID); err != nil {
		t.Fatal(err)
	}
	if answer, _ := w.get("/dashboard"); answer.StatusCode != 303 {
		t.Error("a revoked session works")
	}
	if answer, _ := w.post("/dashboard/methods", url.Values{}); answer.StatusCode != 303 || answer.Header.Get("Location") != "/sign-in?next=%2Fdashboard" {
		t.Error("a form after the session's end leads to sign-in:", answer.StatusCode)
	}
}

// TestRightsChangeUnderTwoRequests (AP-6): two requests of one browser are under way when the member's role changes. Both
// answers carry the same new cookie and forms that work with it; the former cookie opens nothing.
func TestRightsChangeUnderTwoRequests(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	w.get("/dashboard")
	former := w.cookie
	b.db.Exec(t.Context()).Model(&models.Member{}).Where("1 = 1").Update("role", "finance")
	first, second := &browser{bench: b, t: t, cookie: former}, &browser{bench: b, t: t, cookie: former}
	b.shown = func() { // the first request has read its session, and the second comes and goes
		b.shown = nil
		second.get("/dashboard")
	}
	first.get("/dashboard")
	if first.cookie == former || first.cookie != second.cookie {
		t.Errorf("the cookies after the change are %q and %q, want the same, other than %q", first.cookie, second.cookie, former)
	}
	for name, w := range map[string]*browser{"first": first, "second": second} {
		if answer, _ := w.post("/dashboard/domain", url.Values{"domain": {"live"}}); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("the form of the %s answer: status %d, want 303", name, answer.StatusCode)
		}
	}
	if answer, _ := b.do(t, "GET", "/dashboard", "", "Cookie", former); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("the former cookie: status %d, want 303 to sign in", answer.StatusCode)
	}
}

// TestValuesOfBothRequestsStay: of two requests of one browser that are under way when the member's role changes, one switches
// to live. It stays switched, whichever of the two saves the new session first.
func TestValuesOfBothRequestsStay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setupWith(t, local, db)
		for role, switchFirst := range map[string]bool{"finance": true, "admin": false} {
			w := b.signedIn(t)
			w.get("/dashboard")
			b.db.Exec(t.Context()).Model(&models.Member{}).Where("1 = 1").Update("role", role)
			look := func(w *browser) { w.get("/dashboard") }
			change := func(w *browser) {
				if answer, _ := w.post("/dashboard/domain", url.Values{"domain": {"live"}}); answer.StatusCode != http.StatusSeeOther {
					t.Errorf("the switch to live: status %d, want 303", answer.StatusCode)
				}
			}
			first, last := change, look
			if !switchFirst {
				first, last = look, change
			}
			other := &browser{bench: b, t: t, cookie: w.cookie, token: w.token}
			b.shown = func() { // the request that saves last has read its session
				b.shown = nil
				first(other)
			}
			last(w)
			if w.cookie != other.cookie {
				t.Errorf("the cookies after the change to %s are %q and %q, want the same", role, w.cookie, other.cookie)
			}
			if _, body := w.get("/dashboard"); !strings.Contains(body, " live") {
				t.Errorf("switch saved first %t: the overview is not live: %.80s", switchFirst, body)
			}
		}
	})
}

// TestOwnRotationCounts (AP-6): a request that asks for a new session when the member's role has changed gets one that no other
// request of the browser arrives at.
func TestOwnRotationCounts(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setupWith(t, local, db)
		w := b.signedIn(t)
		w.get("/dashboard")
		other := &browser{bench: b, t: t, cookie: w.cookie}
		former := w.cookie
		var row models.Session
		if err := b.db.Read(t.Context()).Take(&row).Error; err != nil {
			t.Fatal(err)
		}
		b.db.Exec(t.Context()).Model(&models.Member{}).Where("1 = 1").Update("role", "finance")
		if answer, _ := w.post("/dashboard/lock", url.Values{}); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("the request for a new session: status %d, want 303", answer.StatusCode)
		}
		if err := b.db.Exec(t.Context()).Create(&row).Error; err != nil { // as for a request that was under way
			t.Fatal(err)
		}
		other.get("/dashboard")
		if w.cookie == former || other.cookie == former || w.cookie == other.cookie {
			t.Errorf("the cookies are %q, asked for, and %q, by the new role; want two, other than %q", w.cookie, other.cookie, former)
		}
		if answer, _ := w.get("/dashboard"); answer.StatusCode != http.StatusOK {
			t.Errorf("with the cookie that was asked for: status %d, want 200", answer.StatusCode)
		}
	})
}

// TestRevokedUnderARequest (AP-6): a session that is revoked while a request with changed rights is under way doesn't come back.
func TestRevokedUnderARequest(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	w.get("/dashboard")
	former := w.cookie
	b.db.Exec(t.Context()).Model(&models.Member{}).Where("1 = 1").Update("role", "finance")
	b.shown = func() {
		if err := b.Sessions.RevokeUser(t.Context(), b.user.ID); err != nil {
			t.Error(err)
		}
	}
	w.get("/dashboard")
	if w.cookie != former {
		t.Error("the answer has a cookie of a session that was revoked")
	}
	b.shown = nil
	if answer, _ := w.get("/dashboard"); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("after the revocation: status %d, want 303 to sign in", answer.StatusCode)
	}
}

func TestDatabaseFaultIsNoSignOut(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	if answer, _ := w.get("/dashboard"); answer.StatusCode < 500 {
		t.Errorf(`w.get("/dashboard"): answer.StatusCode = %v`, answer.StatusCode)
	}
}

// TestFormsAreOurs (AP-5): a form counts only with its own session's token, from our own
// pages.
func TestFormsAreOurs(t *testing.T) {
	b := setup(t, local)
	w, other := b.signedIn(t), b.signedIn(t)
	w.get("/dashboard")
	other.get("/dashboard")
	const form = "application/x-www-form-urlencoded"
	send := func(cookie, token string, headers ...string) int {
		t.Helper()
		headers = append(headers, "Cookie", cookie, "Content-Type", form)
		answer, _ := b.do(t, "POST", "/dashboard/methods", "csrf="+token, headers...)
		return answer.StatusCode
	}
	cases := []struct {
		name    string
		token   string
		headers []string
		status  int
	}{
		{"same origin, both headers", w.token, []string{"Origin", b.base, "Sec-Fetch-Site", "same-origin"}, 200},
		{"old browser", w.token, []string{"Origin", b.base}, 200},
		{"other name of this machine", w.token, []string{"Origin", "http://localhost:8080", "Sec-Fetch-Site", "same-origin"}, 200},
		{"typed again by the user", w.token, []string{"Sec-Fetch-Site", "none"}, 200},
		{"page without referrer", w.token, []string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, 200},
		{"neither header", w.token, nil, 403},
		{"null origin", w.token, []string{"Origin", "null"}, 403},
		{"foreign origin", w.token, []string{"Origin", "https://evil.example"}, 403},
		{"foreign origin that claims to be ours", w.token, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}, 403},
		{"origin with our name in it", w.token, []string{"Origin", b.base + ".evil.example"}, 403},
		{"https instead of http", w.token, []string{"Origin", "https://127.0.0.1:8080"}, 403},
		{"cross-site", w.token, []string{"Origin", b.base, "Sec-Fetch-Site", "cross-site"}, 403},
		{"same-site", w.token, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"cross-site, null", w.token, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403},
		{"token missing", "", []string{"Origin", b.base}, 403},
		{"token of another session", other.token, []string{"Origin", b.base}, 403},
		{"token damaged", w.token[:80], []string{"Origin", b.base}, 403},
		{"token no base 64", "!!!", []string{"Origin", b.base}, 403},
	}
	for _, c := range cases {
		if got := send(w.cookie, c.token, c.headers...); got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
	}
	if got := send("", w.token, "Origin", b.base); got != 403 {
		t.Error("without the cookie:", got)
	}
	if answer, _ := b.do(t, "POST", "/dashboard/methods", "", "Cookie", w.cookie, "Origin", b.base, "X-CSRF-Token", w.token); answer.StatusCode != 200 {
		t.Error("token in the header:", answer.StatusCode)
	}
	if _, again := w.get("/dashboard"); strings.Contains(again, w.token) && w.token == other.token {
		t.Error("the token is not masked")
	}
	// A payer has no session: the secret path is the right, the origin is checked all the same.
	for origin, status := range map[string]int{b.base: 303, "https://evil.example": 403, "": 403} {
		if answer, _ := b.do(t, "POST", "/pay/"+token+"/open", "", "Origin", origin); answer.StatusCode != status || len(answer.Cookies()) != 0 {
			t.Errorf(`b.do(t, "POST", "/pay/"+token+"/open", "", "Origin", origin): origin = %v, answer.StatusCode = %v`, origin, answer.StatusCode)
		}
	}
}

// TestFormsOfTheOtherDomain: what was written while test was shown doesn't happen in live.
func TestFormsOfTheOtherDomain(t *testing.T) {
	b := setup(t, local)
	w := b.signedIn(t)
	w.get("/dashboard")
	ofTest := w.token
	send := func(path, token, fields string) int {
		t.Helper()
		answer, _ := b.do(t, "POST", path, "csrf="+token+fields, "Cookie", w.cookie, "Origin", b.base, "Content-Type", "application/x-www-form-urlencoded")
		return answer.StatusCode
	}
	if got := send("/dashboard/methods", ofTest, ""); got != 200 {
		t.Fatalf(`send("/dashboard/methods", ofTest, ""): got = %v`, got)
	}
	w.post("/dashboard/domain", url.Values{"domain": {"live"}})
	if got := send("/dashboard/methods", ofTest, ""); got != 409 {
		t.Error("a form of the test domain is taken in live:", got)
	}
	w.get("/dashboard")
	if got := send("/dashboard/methods", w.token, ""); got != 200 {
		t.Error("a form of the live domain is refused in live:", got)
	}
	if got := send("/dashboard/domain", ofTest, "&domain=test"); got != 303 {
		t.Error("a page that still shows test can't switch:", got)
	}
	if got := send("/dashboard/methods", w.token, ""); got != 409 {
		t.Error("a form of the live domain is taken in test:", got)
	}
}

// TestAFormAfterTheSessionsEnd (AP-22): a user who signs in again comes back to the page of the
// form, and to no other site's.
func TestAFormAfterTheSessionsEnd(t *testing.T) {
	b := setup(t, local)
	for _, c := range []struct{ path, header, from, want string }{
		{"/dashboard/methods", "Referer", b.base + "/dashboard?period=7d&q=a+b", "/dashboard?period=7d&q=a+b"},
		{"/dashboard/methods", "Referer", "http://localhost:8080/dashboard", "/dashboard"},
		{"/dashboard/methods", "HX-Current-URL", b.base + "/dashboard?q=1", "/dashboard?q=1"},
		{"/dashboard/methods", "Referer", b.base + "/dashboard/methods/x?q=1", "/dashboard"}, // which takes forms only
		{"/dashboard/methods", "Referer", "https://evil.example/dashboard?q=1", "/dashboard"},
		{"/dashboard/methods", "Referer", "https://evil.example//evil.example", "/dashboard"},
		{"/dashboard/methods", "Referer", b.base + "//evil.example", "/dashboard"},
		{"/dashboard/methods", "Referer", b.base + "///evil.example", "/dashboard"},
		{"/dashboard/methods", "HX-Current-URL", b.base + `/\evil.example`, "/dashboard"},
		{"/dashboard/methods", "Referer", "%", "/dashboard"},
		{"/dashboard/methods", "", "", "/dashboard"},
	} {
		w := &browser{bench: b, t: t}
		w.get("/sign-in")
		headers := []string{"Cookie", w.cookie, "Origin", b.base, "X-CSRF-Token", w.token}
		if c.header != "" {
			headers = append(headers, c.header, c.from)
		}
		answer, _ := b.do(t, "POST", c.path, "", headers...)
		if got := answer.Header.Get("Location"); answer.StatusCode != 303 || got != "/sign-in?next="+url.QueryEscape(c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.header, c.from, answer.StatusCode, got, c.want)
		}
	}
}
