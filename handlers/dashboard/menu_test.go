package dashboard_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cointill/core/account"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/views/layout"
)

// menuPages are the pages that the menu leads to, directly or by the tabs of an area.
var menuPages = []string{"/dashboard", "/dashboard/payments", "/dashboard/unmatched", "/dashboard/customers", "/dashboard/mailbox",
	"/dashboard/links", "/dashboard/till/settings", "/dashboard/sends", "/dashboard/statements",
	"/dashboard/methods", "/dashboard/rates", "/dashboard/going-live", "/dashboard/webhooks",
	"/dashboard/keys", "/dashboard/settings", "/dashboard/team", "/dashboard/audit", "/dashboard/system"}

var (
	sidebar  = regexp.MustCompile(`(?s)<header class="side">.*?</header>`)
	topbar   = regexp.MustCompile(`(?s)<header class="topbar">.*?<details`)
	areaTabs = regexp.MustCompile(`(?s)<nav [^>]*class="area-tabs.*?</nav>`)
	navLink  = regexp.MustCompile(`class="nav-item" href="([^"]*)"( aria-current="[a-z]*")?`)
	tabLink  = regexp.MustCompile(`<a href="([^"]*)"( aria-current="page")?`)
)

// TestMenuIsShort: no role sees more than nine entries in the menu, each page that the role may open is an entry or a tab of
// the entry that is marked, and the account and the way out are always in view.
func TestMenuIsShort(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Accounts.Operators = []string{ama}
		owner, err := account.Owners(s.DB.Read(t.Context()), sc.BusinessID)
		s.FailOn(err)
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Passkey{UserID: owner[0].ID, Credential: "phone", PublicKey: []byte{1}, Name: "Phone",
			CreatedAt: s.Clock.Now()}).Error)
		b, table := s.SignIn(ama), rowsOf(t)
		for _, role := range roles[:4] { // the till role has no menu
			for _, domain := range []scope.Domain{scope.Test, scope.Live} {
				s.SetRole(sc, role)
				asking(t, b, domain)
				for _, path := range menuPages {
					at := slices.IndexFunc(table, func(r row) bool { return r.is(http.MethodGet, path) })
					if !table[at].allows(role, domain) || path == "/dashboard" && role == scope.Developer && domain == scope.Live {
						continue
					}
					body := b.Get(path).Body
					side, tabs := sidebar.FindString(body), areaTabs.FindString(body)
					entries := navLink.FindAllStringSubmatch(side, -1)
					if n := len(entries); n == 0 || n > layout.MaxAreas {
						t.Errorf("%s in %s sees %d entries at %s, want 1 to %d", role, domain, n, path, layout.MaxAreas)
					}
					marked := slices.DeleteFunc(slices.Clone(entries), func(entry []string) bool { return entry[2] == "" })
					if len(marked) != 1 {
						t.Errorf("%s in %s at %s: entries %q are marked, want one", role, domain, path, marked)
						continue
					}
					chosen := slices.DeleteFunc(tabLink.FindAllStringSubmatch(tabs, -1), func(tab []string) bool { return tab[2] == "" })
					if marked[0][1] != path && (len(chosen) != 1 || chosen[0][1] != path) {
						t.Errorf("%s in %s at %s: entry %q and tabs %q are marked, want the page", role, domain, path, marked, chosen)
					}
					for name, part := range map[string]string{"side": side, "top bar": topbar.FindString(body)} {
						if !strings.Contains(part, `action="/sign-out"`) || !strings.Contains(part, `href="/dashboard/account"`) {
							t.Errorf("%s in %s at %s: the %s has no sign-out and account", role, domain, path, name)
						}
					}
					for _, tab := range tabLink.FindAllStringSubmatch(tabs, -1) {
						if marked[0][1] != tabLink.FindStringSubmatch(tabs)[1] {
							t.Errorf("%s in %s at %s: the entry leads to %s, want the first tab of %q", role, domain, path, marked[0][1], tab[1])
						}
					}
				}
			}
		}
	})
}
