package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/system"
	"cointill/handlers/dashboard/servertest"
	"cointill/models"
)

const systemAt = "/dashboard/system"

// TestSystemPage: whoever runs the server sees it, with a second factor or a
// passkey; for everybody else there is no such page, and nothing in the menu.
func TestSystemPage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := s.Business("Ama's Shop", ama)
		s.Business("Bayo's Shop", bayo)
		member := hire(t, s, sc, "dede@shop.example", scope.Developer)
		b, owner := s.SignIn(ama), s.SignIn(bayo)
		hidden := func(b *servertest.Browser) {
			t.Helper()
			expect(t, b.Get(systemAt), 404, "There is nothing at this address.")
			if strings.Contains(b.Get(accountAt).Body, systemAt) {
				t.Error("the menu shows it")
			}
		}
		hidden(b)
		s.Accounts.Operators = []string{ama, "dede@shop.example"}
		hidden(b) // no second factor
		passkeyPages(t, b, "Phone")
		expect(t, b.Get(accountAt), 200, systemAt)
		page := b.Get(systemAt)
		expect(t, page, 200, "1.2.3", "migrations are run", "sandbox-bitcoin", "Webhook deliveries", "Nothing waits", "Kraken", "No mail server")
		hidden(owner)
		dede := s.SignIn(member.Email)
		hidden(dede)
		withFactor(t, s, dede)
		expect(t, dede.Get(systemAt), 200, "needs you") // a developer who runs the server

		for drift, says := range map[time.Duration]string{31 * time.Second: "this machine is 31s ahead", -10 * time.Minute: "this machine is 10m0s behind"} {
			s.Pages.System.(*system.Service).Drift = func() time.Duration { return drift }
			expect(t, b.Get(systemAt), 200, says)
		}
		s.Pages.System.(*system.Service).Drift = func() time.Duration { return 30 * time.Second }
		if strings.Contains(b.Get(systemAt).Body, "The clock of this machine") {
			t.Error("30 seconds are called too many")
		}

		s.Must(s.DB.Exec(t.Context()).Create(&models.Mail{Kind: "x", About: "1", DueAt: s.Clock.Now().Add(-time.Hour), CreatedAt: s.Clock.Now()}).Error)
		expect(t, b.Get(systemAt), 200, "Mails: the first has been due 60 min ago. Is a process running?", "sandbox-bitcoin: nothing of it has been read yet.")
	})
}

// TestOperatorsAddress: the link of an invitation makes nobody an operator.
func TestOperatorsAddress(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := s.Business("Ama's Shop", ama)
		s.Accounts.Operators = []string{"root@till.example"}
		in, err := s.Accounts.Invite(t.Context(), sc, "root@till.example", scope.Admin)
		s.Must(err)
		at := strings.TrimPrefix(in.Link, servertest.Base)
		guest := s.Browser()
		a := guest.PostFrom(at, at, map[string][]string{"name": {"Mallory"}, "password": {servertest.Password}})
		expect(t, a, 403, "is that of who runs this server")
		if n := rows(s, &models.User{}, "email = 'root@till.example'"); n != 0 {
			t.Error("the account is there")
		}
	})
}
