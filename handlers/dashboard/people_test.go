package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	accountAt = "/dashboard/account"
	factorAt  = accountAt + "/second-factor"
	teamAt    = "/dashboard/team"
	newPhrase = "quite another passphrase"
)

var (
	mailed   = regexp.MustCompile(servertest.Base + `(/(?:reset|email|invitation)/[\w-]+)`)
	setupKey = regexp.MustCompile(`data-copy="([A-Z2-7]{32})"`)
	sealedIn = regexp.MustCompile(`name="setup" value="([^"]+)"`)
	codes    = regexp.MustCompile(`[0-9A-Z]{5}-[0-9A-Z]{5}`)
)

// lastMail is the path of the link that the last mail carries, as its reader gets it.
func lastMail(t *testing.T, s *servertest.Server, to string) string {
	t.Helper()
	var row models.Mail
	s.FailOn(s.DB.Read(t.Context()).Where("to_address = ?", to).Order("id DESC").Take(&row).Error)
	found := mailed.FindStringSubmatch(s.Users.Fill(row.Text))
	if found == nil || row.BusinessID != 0 {
		t.Fatalf("%q of business %d", row.Text, row.BusinessID)
	}
	return found[1]
}

// withFactor sets a second factor up on its pages, and gives its key and recovery codes.
func withFactor(t *testing.T, s *servertest.Server, b *servertest.Browser) (key string, recovery []string) {
	t.Helper()
	setup := b.PostFrom(factorAt, factorAt, url.Values{"password": {servertest.Password}})
	expect(t, setup, 200, "Scan this code with your authenticator app", "<svg")
	key = setupKey.FindStringSubmatch(setup.Body)[1]
	sealed := html.UnescapeString(sealedIn.FindStringSubmatch(setup.Body)[1])
	again := b.PostFrom(factorAt, factorAt+"/confirm", url.Values{"setup": {sealed}, "code": {"000000"}})
	expect(t, again, 422, "Does not match the code in the app", key)
	s.Clock.Advance(time.Minute)
	done := b.PostFrom(factorAt, factorAt+"/confirm", url.Values{"setup": {sealed}, "code": {codeOf(t, s, key)}})
	expect(t, done, 201, "Save them now")
	if recovery = codes.FindAllString(done.VisibleText(), -1); len(recovery) < 10 {
		t.Fatalf("codes.FindAllString(done.Text(), -1): recovery = %v", recovery)
	}
	return key, recovery
}

func codeOf(t *testing.T, s *servertest.Server, key string) string {
	t.Helper()
	code, err := totp.GenerateCode(key, s.Clock.Now())
	s.FailOn(err)
	return code
}

func TestSecondFactorPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get(accountAt), 200, "You sign in with your password only")
		expect(t, b.PostFrom(factorAt, factorAt, url.Values{"password": {"not the passphrase"}}), 422, "This isn't your password.")
		s.Clock.Advance(time.Second)
		key, recovery := withFactor(t, s, b)
		expect(t, b.Get(accountAt), 200, "10 recovery codes left", "This browser")
		expect(t, b.Get(factorAt), 200, "On since 1 Mar 2026")
		if b.Get(factorAt).VisibleText() == "" || strings.Contains(b.Get(factorAt).Body, key) || strings.Contains(b.Get(factorAt).Body, recovery[0]) {
			t.Error("a secret is shown again")
		}

		s.Clock.Advance(time.Minute)
		w := s.NewBrowser()
		form := url.Values{"email": {ama}, "password": {servertest.Password}, "next": {"/dashboard/keys"}}
		leads(t, w.PostFrom("/sign-in", "/sign-in", form), "/sign-in/code?next=%2Fdashboard%2Fkeys")
		leads(t, w.Get("/dashboard"), "/sign-in?next=%2Fdashboard") // the password alone is not enough
		at := "/sign-in/code?next=%2Fdashboard%2Fkeys"
		expect(t, w.PostFrom(at, "/sign-in/code", url.Values{"code": {"000000"}}), 401, "This code is wrong")
		limited := w.PostFrom(at, "/sign-in/code", url.Values{"code": {codeOf(t, s, key)}})
		expect(t, limited, 429, "Too many attempts")
		if limited.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		s.Clock.Advance(time.Second)
		leads(t, w.PostFrom(at, "/sign-in/code", url.Values{"code": {codeOf(t, s, key)}, "next": {"/dashboard/keys"}}), "/dashboard/keys")

		lost := s.NewBrowser()
		lost.PostFrom("/sign-in", "/sign-in", form)
		leads(t, lost.PostFrom(at, "/sign-in/code", url.Values{"code": {strings.ToLower(recovery[0])}}), "/dashboard")
		expect(t, lost.Get("/dashboard"), 200, "You used a recovery code. 9 are left")
		fresh := lost.PostFrom(factorAt, factorAt+"/change", url.Values{"what": {"codes"}, "password": {servertest.Password}, "code": {recovery[1]}})
		expect(t, fresh, 201, "Save them now")
		expect(t, lost.PostFrom(factorAt, factorAt+"/change", url.Values{"what": {"off"}, "password": {servertest.Password}}), 422, "Is required.")
		s.Clock.Advance(time.Minute)
		leads(t, lost.PostFrom(factorAt, factorAt+"/change", url.Values{"what": {"off"}, "password": {servertest.Password}, "code": {codes.FindString(fresh.VisibleText())}}), accountAt)
		leads(t, w.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
		s.SignIn(ama) // needs no code any more
	})
}

// TestSecondFactorRotates (AP-6): a change of the second factor or the password gives
// the browser another cookie, and the page that it answers with carries on.
func TestSecondFactorRotates(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		hire(t, s, sc, "second@shop.example", scope.Owner)
		step := func(what string, act func() servertest.Answer) {
			t.Helper()
			copied := b.NewWindow()
			expect(t, copied.Get(accountAt), 200)
			a := act()
			if a.Header.Get("Set-Cookie") == "" {
				t.Errorf("%s: the cookie is the same", what)
			}
			leads(t, copied.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
			expect(t, b.Get(accountAt), 200)
			if found := formToken.FindStringSubmatch(a.Body); found != nil { // a form on the answer itself
				expect(t, b.Post(accountAt, url.Values{"csrf": {html.UnescapeString(found[1])}, "name": {""}}), 422)
			}
		}
		step("a password", func() servertest.Answer {
			return b.PostFrom(accountAt+"/password", accountAt+"/password", url.Values{"password": {servertest.Password}, "new_password": {newPhrase}})
		})
		step("a role", func() servertest.Answer { s.SetRole(sc, scope.Admin); return b.Get(accountAt) })
		var sealed, key string
		setup := b.PostFrom(factorAt, factorAt, url.Values{"password": {newPhrase}})
		sealed, key = html.UnescapeString(sealedIn.FindStringSubmatch(setup.Body)[1]), setupKey.FindStringSubmatch(setup.Body)[1]
		step("a second factor", func() servertest.Answer {
			return b.PostFrom(factorAt, factorAt+"/confirm", url.Values{"setup": {sealed}, "code": {codeOf(t, s, key)}})
		})
	})
}

func TestForgotAndReset(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b, w := s.SignIn(ama), s.NewBrowser()
		expect(t, w.Get("/forgot"), 200, "No mail server is configured")
		expect(t, w.PostFrom("/sign-in", "/forgot", url.Values{"email": {ama}}), 200, "No mail server is configured")
		s.UseMailServer()
		expect(t, w.PostFrom("/forgot", "/forgot", url.Values{"email": {"nowhere"}}), 422, "nowhere", "Must be a plain e-mail address")
		known := w.PostFrom("/forgot", "/forgot", url.Values{"email": {ama}})
		unknown := w.PostFrom("/forgot", "/forgot", url.Values{"email": {"nobody@shop.example"}})
		if known.Status != 200 || strings.ReplaceAll(known.VisibleText(), ama, "") != strings.ReplaceAll(unknown.VisibleText(), "nobody@shop.example", "") {
			t.Error("the answers differ", known.VisibleText(), unknown.VisibleText())
		}
		at := lastMail(t, s, ama)
		expect(t, w.Get(at), 200, "Choose a new password", ama)
		expect(t, w.PostFrom(at, at, url.Values{"password": {"short"}}), 422, "Must have at least 12 characters.")
		expect(t, w.Get("/reset/"+strings.Repeat("x", 43)), 410, "no longer valid")
		leads(t, w.PostFrom(at, at, url.Values{"password": {newPhrase}}), "/sign-in?changed=1")
		expect(t, w.Get(at), 410, "no longer valid")
		leads(t, b.Get("/dashboard"), "/sign-in?next=%2Fdashboard")
		expect(t, w.Get("/sign-in?changed=1"), 200, "Your password was changed")
		leads(t, w.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {newPhrase}}), "/dashboard")
		if strings.Contains(s.ReadLog(), strings.TrimPrefix(at, "/reset/")) {
			t.Error("the link's token stands in the log")
		}
		if text := w.Get("/dashboard/mailbox").VisibleText(); strings.Contains(text, "password") || strings.Contains(text, "sign-in to your") {
			t.Error("the business's mailbox shows mails of a user's account")
		}
	})
}

func TestInvitationPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get(teamAt), 200, "(you)", "No mail server is configured", "Change wallets")
		expect(t, b.PostFrom(teamAt, teamAt+"/invitations", url.Values{"email": {"x"}, "role": {"king"}}), 422, "Must be a plain e-mail address", "Choose one of the roles")
		leads(t, b.PostFrom(teamAt, teamAt+"/invitations", url.Values{"email": {bayo}, "role": {"finance"}}), teamAt)
		at := lastMail(t, s, bayo)
		expect(t, b.Get(teamAt), 200, "Share its link yourself", at, "As Finance", "Valid until 8 Mar 2026")
		s.UseMailServer()
		if strings.Contains(b.Get(teamAt).Body, at) {
			t.Error("the link is shown although a mail carries it")
		}
		w := s.NewBrowser()
		expect(t, w.Get(at), 200, "Ama Mensah invites you", "Finance", bayo)
		expect(t, w.PostFrom(at, at, url.Values{"name": {"Bayo"}, "password": {"short"}}), 422, "Bayo", "Must have at least 12 characters.")
		leads(t, w.PostFrom(at, at, url.Values{"name": {"Bayo"}, "password": {servertest.Password}}), "/dashboard")
		expect(t, w.Get("/dashboard"), 200, "Welcome to Ama's Shop. Your role is Finance.")
		expect(t, w.Get(teamAt), 403)
		expect(t, s.NewBrowser().Get(at), 410, "This invitation is no longer valid")

		member := regexp.MustCompile(teamAt+`/members/\d+/role`).FindAllString(b.Get(teamAt).Body, -1)[1]
		expect(t, b.PostFrom(teamAt, regexp.MustCompile(teamAt+`/members/\d+/role`).FindString(b.Get(teamAt).Body), url.Values{"role": {"admin"}}), 409, "A business needs an owner")
		leads(t, b.PostFrom(teamAt, member, url.Values{"role": {"admin"}}), teamAt)
		expect(t, w.Get(teamAt), 200, "Owner") // from the next request on
		expect(t, w.PostFrom(teamAt, member, url.Values{"role": {"owner"}}), 403, "Only an owner can manage owners")
		leads(t, b.PostFrom(teamAt, strings.Replace(member, "/role", "/remove", 1), nil), teamAt)
		leads(t, w.Get("/dashboard"), "/sign-in?removed=1")
		expect(t, w.Get("/sign-in?removed=1"), 200, "You are no longer a member of a business here")
		expect(t, b.PostFrom(teamAt, strings.Replace(member, "/role", "/remove", 1), nil), 404)
		expect(t, b.PostFrom(teamAt, member, url.Values{"role": {"admin"}}), 404)
	})
}

// TestInvitationToAnotherBusiness (AP-6): who has an account signs in to accept, and
// goes between businesses under another session id each time.
func TestInvitationToAnotherBusiness(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Bayo's Shop", bayo)
		_, err := s.Accounts.Invite(t.Context(), sc, bayo, scope.Developer)
		s.FailOn(err)
		at := lastMail(t, s, bayo)
		wrong := s.SignIn(ama)
		expect(t, wrong.Get(at), 200, "already has an account here", "Another user is signed in")
		expect(t, wrong.PostFrom(accountAt, at, nil), 409, "This invitation is for "+bayo)
		b := s.NewBrowser()
		expect(t, b.Get(at), 200, "Sign in to accept", "next="+url.QueryEscape(at))
		expect(t, b.PostFrom("/sign-in", at, url.Values{"name": {"Mallory"}, "password": {newPhrase}}), 409)
		leads(t, b.PostFrom("/sign-in", "/sign-in", url.Values{"email": {bayo}, "password": {servertest.Password}, "next": {at}}), at)
		old := b.NewWindow()
		leads(t, b.PostFrom(at, at, nil), "/dashboard")
		expect(t, b.Get("/dashboard"), 200, "Your role is Developer")
		leads(t, old.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
		expect(t, b.Get(accountAt), 200, "Your businesses", "Bayo's Shop", ">Current<")
		expect(t, b.Get(teamAt), 403)
		stale := url.Values{"csrf": {html.UnescapeString(formToken.FindStringSubmatch(b.Get("/dashboard/links/new").Body)[1])}, "title": {"Meant for Ama"}, "currency": {"USD"}, "amount_kind": {"fixed"}, "amount": {"1"}}
		leads(t, b.PostFrom(accountAt, accountAt+"/business", url.Values{"business": {"1"}}), "/dashboard")
		leads(t, b.PostFrom(accountAt, accountAt+"/business", url.Values{"business": {"2"}}), "/dashboard")
		expect(t, b.Post("/dashboard/links", stale), 403) // a form of the other business
		expect(t, b.Get(teamAt), 200)
		expect(t, b.PostFrom(accountAt, accountAt+"/business", url.Values{"business": {"999"}}), 404)
	})
}

func TestInvitationOnce(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		showing := func() url.Values {
			form := url.Values{}
			for _, found := range hiddenField.FindAllStringSubmatch(b.Get(teamAt).Body, -1) {
				form.Set(found[1], html.UnescapeString(found[2]))
			}
			return form
		}
		count := func() int64 { return rows(s, &models.Mail{}, "kind = 'account_invitation'") }
		form := showing()
		form.Set("email", bayo)
		form.Set("role", "finance")
		for range 2 {
			leads(t, b.Post(teamAt+"/invitations", form), teamAt)
		}
		if count() != 1 {
			t.Errorf("%d mails for one form", count())
		}
		again := regexp.MustCompile(teamAt + `/invitations/\d+/resend`).FindString(b.Get(teamAt).Body)
		form = showing()
		for range 2 {
			leads(t, b.Post(again, form), teamAt)
		}
		if count() != 2 {
			t.Errorf("%d mails, want 2", count())
		}
		leads(t, b.PostFrom(teamAt, strings.Replace(again, "/resend", "/revoke", 1), nil), teamAt)
		expect(t, b.PostFrom(teamAt, again, nil), 404)
		expect(t, s.NewBrowser().Get(lastMail(t, s, bayo)), 410)
	})
}

func TestAccountPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		b.Header["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
		other := s.NewBrowser()
		other.Header["User-Agent"] = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604.1"
		leads(t, other.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {servertest.Password}}), "/dashboard")
		if n := rows(s, &models.Mail{}, "kind = 'account_new_device' AND text LIKE '%Safari on iPhone%'"); n != 1 {
			t.Errorf("%d mails of a new browser", n)
		}
		expect(t, b.PostFrom(accountAt, accountAt, url.Values{"name": {"\u202eAma"}}), 422, "May not hold invisible")
		leads(t, b.PostFrom(accountAt, accountAt, url.Values{"name": {"<script>Ama"}}), accountAt)
		page := b.Get(accountAt)
		expect(t, page, 200, "<script>Ama", "Safari on iPhone", "This browser", "Sign out everywhere else")
		seat := regexp.MustCompile(`name="session" value="(\w{64})"`).FindStringSubmatch(page.Body)[1]
		leads(t, b.PostFrom(accountAt, accountAt+"/sessions/end", url.Values{"session": {seat}}), accountAt)
		leads(t, b.PostFrom(accountAt, accountAt+"/sessions/end", url.Values{"session": {seat}}), accountAt)
		expect(t, b.Get(accountAt), 200, "This session had already ended")
		leads(t, other.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")
		other = s.SignIn(ama)
		leads(t, b.PostFrom(accountAt, accountAt+"/sessions/end-others", nil), accountAt)
		leads(t, other.Get(accountAt), "/sign-in?next=%2Fdashboard%2Faccount")

		at := accountAt + "/email"
		expect(t, b.Get(at), 200, "No mail server is configured")
		s.UseMailServer()
		expect(t, b.PostFrom(at, at, url.Values{"email": {"x"}, "password": {servertest.Password}}), 422, "Must be a plain e-mail address")
		leads(t, b.PostFrom(at, at, url.Values{"email": {bayo}, "password": {servertest.Password}}), accountAt)
		link := lastMail(t, s, bayo)
		w := s.NewBrowser()
		expect(t, w.Get(link), 200, "Confirm your address", ama, bayo)
		leads(t, w.PostFrom(link, link, nil), "/sign-in?confirmed=1")
		expect(t, w.PostFrom("/sign-in", link, nil), 410)
		expect(t, b.Get(accountAt), 200, bayo)

		at = accountAt + "/password"
		wrong := b.PostFrom(at, at, url.Values{"password": {"not the passphrase"}, "new_password": {newPhrase}})
		expect(t, wrong, 422, "This isn't your password.")
		if strings.Contains(wrong.Body, newPhrase) || strings.Contains(wrong.Body, "not the passphrase") {
			t.Error("a password came back")
		}
		s.Clock.Advance(time.Second)
		leads(t, b.PostFrom(at, at, url.Values{"password": {servertest.Password}, "new_password": {newPhrase}}), accountAt)
		expect(t, b.Get(accountAt), 200, "All other sessions were signed out")
	})
}

// TestWalletAsksForTheCode: where the money goes is decided with the second factor, too.
func TestWalletAsksForTheCode(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, "bitcoin", "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		key, _ := withFactor(t, s, b)
		s.Clock.Advance(time.Minute)
		send := func(code string) servertest.Answer {
			return b.PostFrom(walletAt, walletAt, url.Values{"key": {tpub}, "script": {"wpkh"}, "password": {servertest.Password}, "code": {code}})
		}
		expect(t, send(""), 422, "Code from your authenticator app", "Is required.")
		expect(t, send("000000"), 422, "This code is wrong")
		s.Clock.Advance(time.Minute)
		leads(t, send(codeOf(t, s, key)), walletAt)
	})
}

// TestDeviceCookie: the cookie of a browser outlives its session and opens nothing.
func TestDeviceCookie(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		leads(t, b.PostFrom("/dashboard", "/sign-out", nil), "/sign-in?signed_out=1")
		leads(t, b.Get("/dashboard"), "/sign-in?next=%2Fdashboard")
		s.NewBrowser().PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {"not the passphrase"}})
		form := url.Values{"email": {ama}, "password": {servertest.Password}}
		if a := s.NewBrowser().PostFrom("/sign-in", "/sign-in", form); a.Status != http.StatusTooManyRequests {
			t.Error("a strange browser goes past the guesses", a.Status)
		}
		leads(t, b.PostFrom("/sign-in", "/sign-in", form), "/dashboard")
		if n := rows(s, &models.Mail{}, "kind = 'account_new_device'"); n != 1 {
			t.Errorf("%d mails of new browsers, want that of the first sign-in", n)
		}
	})
}
