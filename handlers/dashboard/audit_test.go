package dashboard_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestAuditPage does and is refused things through the pages, and reads of them.
func TestAuditPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		kofi := hire(t, s, sc, "kofi@shop.example", scope.Finance)
		guess := s.NewBrowser()
		guess.Header["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
		expect(t, guess.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {"not the password"}}), 401)
		s.Clock.Advance(2 * time.Minute)
		b := s.SignIn(ama)
		expect(t, b.PostFrom("/dashboard/account/password", "/dashboard/account/password", url.Values{"password": {"not the password"}, "new_password": {"another long passphrase"}}), 422)
		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_dogecoin", url.Values{"enabled": {"false"}}), "/dashboard/methods")
		clerk := s.SignIn("kofi@shop.example")
		expect(t, clerk.Get("/dashboard/keys"), 403)
		expect(t, clerk.PostFrom("/dashboard/account", "/dashboard/team/invitations", url.Values{"email": {"x@shop.example"}, "role": {"owner"}}), 403)

		all := b.Get("/dashboard/audit")
		expect(t, all, 200, "The log is intact.", "Wrong password at sign-in Refused", "Firefox on Linux, 0.0.0.0", "Wrong password when confirming an action Refused",
			"Payment method switched off in test Dogecoin", "before: yes → after: no", "Access refused Refused in test /dashboard/keys", "method POST", "Team member joined", "New Member", "Business created")
		if text := all.VisibleText(); strings.Contains(text, "not the password") || strings.Contains(text, servertest.Password) {
			t.Error("the log tells passwords")
		}
		refused := b.Get("/dashboard/audit?what=refused").VisibleText()
		if strings.Contains(refused, "Dogecoin") || !strings.Contains(refused, "/dashboard/team/invitations") {
			t.Errorf("refused = %v", refused)
		}
		his := b.Get("/dashboard/audit?who=" + url.QueryEscape("user:"+strconv.FormatInt(kofi.ID, 10)))
		expect(t, his, 200, "By: New Member", "Access refused")
		if strings.Contains(his.VisibleText(), "Dogecoin") {
			t.Error("another's acts are shown")
		}
		expect(t, b.Get("/dashboard/audit?from=2026-02-01&to=2026-02-28"), 200, "No entries found", "Dates: 1 Feb 2026 to 28 Feb 2026")
		expect(t, b.Get("/dashboard/audit?who=%3Cscript%3E&what=x&before=-1&from=soon"), 200, "There is no user “<script>”", "There is no action “x”", "No page starts at “-1”", "This is not a date: “soon”", "Dogecoin")
		file := b.Get("/dashboard/audit.csv?what=money")
		if lines := strings.Split(strings.TrimSpace(file.Body), "\r\n"); len(lines) != 2 || !strings.Contains(lines[1], "Payment method switched off,method.disabled,,crypto_dogecoin,test") {
			t.Errorf(`strings.Split(strings.TrimSpace(file.Body), "\r\n"): file.Body = %v`, file.Body)
		}
		expect(t, b.Get("/dashboard/audit.csv?who=x"), 422, "No file was created")
	})
}

// TestAuditPages goes through a long log, and shows that it was tampered with.
func TestAuditPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		for range 60 {
			_, _, err := s.Keys.CreateKey(t.Context(), sc, "Till <b>one</b>")
			s.FailOn(err)
		}
		_, err := s.Audits.SealChains(t.Context())
		s.FailOn(err)
		b := s.SignIn(ama)
		first := b.Get("/dashboard/audit")
		expect(t, first, 200, "All 62 entries are unchanged", "sealed up to row 61", "Till <b>one</b>", "50 entries")
		expect(t, b.Get("/dashboard/audit?before=13"), 200, "12 entries", "Business created", "Back to the first page")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Audit{}).Where("place = 30").Update("subject", "key:1").Error)
		expect(t, b.Get("/dashboard/audit"), 200, "This log was changed after it was written", "Row 30 was changed, or put in.")
	})
}

// TestRefusalsAreBounded: who asks in a loop for what they may not fills no log.
func TestRefusalsAreBounded(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		s.SetRole(sc, scope.Finance)
		for range 45 {
			expect(t, b.Get("/dashboard/team"), 403)
		}
		if n := rows(s, &models.Audit{}, "action = 'access.refused'"); n != 30 {
			t.Errorf("%d rows", n)
		}
	})
}
