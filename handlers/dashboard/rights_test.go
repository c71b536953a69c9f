package dashboard_test

import (
	"archive/zip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cointill/core/account/apikey"
	"cointill/core/apilog"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// viewer is a person who requests pages, with the columns that they may see.
type viewer struct {
	name  string
	scope scope.Scope
	seen  map[string]bool // columns of canaries that were shown
	told  map[string]bool // columns that were shown without a right, so that each is reported once
	// A customer has the address of a payment or a link, and sees these columns of it.
	payment int64
	columns []string
}

func newViewer(name string, sc scope.Scope) viewer {
	return viewer{name: name, scope: sc, seen: map[string]bool{}, told: map[string]bool{}}
}

// may reports whether a viewer has a right to see a canary.
func (v viewer) may(c canary) bool {
	return c.open(v.scope) || slices.Contains(v.columns, c.name) && c.payment == v.payment
}

// looking is a search for canaries in answers.
type looking struct {
	t        *testing.T
	canaries []canary
}

// planted is a canary that was put into a row.
var planted = regexp.MustCompile(`zq\d{4}qz`)

// look fails for each canary in an answer that its viewer has no right to see.
func (l looking) look(who viewer, asked string, a servertest.Answer) {
	l.t.Helper()
	text, found := contents(l.t, a), map[string]bool{}
	for _, one := range planted.FindAllString(text, -1) {
		found[one] = true
	}
	for _, c := range l.canaries {
		if !found[c.text] && !(c.kept && strings.Contains(text, c.text)) {
			continue
		}
		who.seen[c.name] = true
		// The audit log lists the actions of both domains.
		inLog := c.kept && strings.Contains(asked, " /dashboard/audit") && who.scope.Allows(scope.SeeAudit)
		if inLog && c.business == who.scope.BusinessID || who.may(c) {
			continue
		}
		route := strings.Fields(asked)[1]
		if said := route + " " + c.name; !who.told[said] {
			who.told[said] = true
			l.t.Errorf("%s: %s (status %d) shows %s of business %d in %q, which takes %v", who.name, asked, a.Status, c.name, c.business, c.domain, c.rights)
		}
	}
}

// contents is all text of an answer: its header, and its body, unpacked where that is a workbook.
func contents(t *testing.T, a servertest.Answer) string {
	t.Helper()
	var text strings.Builder
	if err := a.Header.Write(&text); err != nil {
		t.Fatal(err)
	}
	packed, err := zip.NewReader(strings.NewReader(a.Body), int64(len(a.Body)))
	if err != nil {
		return text.String() + a.Body
	}
	for _, f := range packed.File {
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&text, part); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// routesOf are the server's own routes of a method, below a path or not.
func routesOf(s *servertest.Server, method string, dashboard bool) (list []row) {
	for _, route := range s.App.GetRoutes(true) {
		if route.Method == method && strings.HasPrefix(route.Path, "/dashboard") == dashboard {
			list = append(list, row{method: method, path: route.Path})
		}
	}
	return list
}

// ofUsers are addresses that hold a secret of a user's own mail, not of a business.
var ofUsers = []string{"/reset/:token", "/email/:token"}

// filled is a route's address of a business's things. A new parameter fails until owned
// makes something for it.
func filled(t *testing.T, r row, things map[string]string) string {
	t.Helper()
	at := r.at(things)
	if strings.Contains(at, "/:") && !slices.Contains(ofUsers, r.path) || strings.Contains(strings.ToLower(at), "nobodys") || strings.Contains(at, "999999") {
		t.Errorf("nothing fills %s: let owned make what it shows", r.path)
	}
	return at
}

// village is two businesses with canaries in both domains.
type village struct {
	looking
	s      *servertest.Server
	sc     scope.Scope // of Ama, the owner of the first, in test
	things map[scope.Domain]map[string]string
}

func plantedVillage(t *testing.T, s *servertest.Server) village {
	t.Helper()
	v := village{s: s, things: map[scope.Domain]map[string]string{}}
	for name, email := range map[string]string{"Ama": ama, "Bayo": bayo} {
		sc := s.CreateBusiness(name+"'s Shop", email)
		leads(t, upload(t, s.SignIn(email), picture(t, "png", 64+8*len(name), 64)), "/dashboard/settings#logo")
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			sc.Domain = domain
			things := owned(t, s, sc)
			s.Calls.AddCall(apilog.Call{Scope: scope.Scope{BusinessID: sc.BusinessID, Domain: domain, Actor: "key:1"}, Method: "POST", Path: "/v1/payments", Status: 200})
			s.FailOn(s.Calls.FlushQueue(t.Context()))
			told(t, s, sc)
			if name == "Ama" {
				v.things[domain], v.sc = things, sc
			}
		}
	}
	v.sc.Domain = scope.Test
	v.looking = looking{t, plant(t, s)}
	return v
}

// TestPagesShowWhatTheRoleMaySee (AP-1, AP-2) asks for every page of the route table as
// each role in each domain, by itself, as a fragment for the page's script and as a search,
// and looks for texts of customers that the role has no right to see in this domain. An
// owner finds each of them somewhere, so that the test has something to find.
func TestPagesShowWhatTheRoleMaySee(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		v := plantedVillage(t, s)
		s.Accounts.Operators = []string{ama} // whose passkey holds canaries: System is a page, too
		b := s.SignIn(ama)
		pages := routesOf(s, http.MethodGet, true)
		seen := map[string]bool{}
		for _, role := range roles[:4] { // what the till role sees is in TestTillSeesNothingElse
			s.SetRole(v.sc, role)
			for _, domain := range []scope.Domain{scope.Test, scope.Live} {
				asking(t, b, domain)
				who := newViewer(fmt.Sprintf("%s in %s", role, domain), scope.Scope{BusinessID: v.sc.BusinessID, Domain: domain, Role: role})
				for _, r := range pages {
					v.askPage(b, who, r, filled(t, r, v.things[domain]))
				}
				if role == scope.Owner {
					for name := range who.seen {
						seen[name] = true
					}
				}
			}
		}
		for _, c := range v.canaries {
			if !c.hidden && !seen[c.name] {
				t.Errorf("no page shows an owner %s", c.name)
				seen[c.name] = true // say it once
			}
		}
	})
}

// askPage asks for a page, for the part of it that its script loads, and for a search by the
// beginning of all canaries.
func (v village) askPage(b *servertest.Browser, who viewer, r row, at string) {
	v.t.Helper()
	if endless(r.path) { // its events are what /status shows, and counts: see TestNews
		v.look(who, "HEAD "+r.path, b.Head(at))
		return
	}
	page := b.Get(at)
	v.look(who, "GET "+r.path, page)
	if page.Status == http.StatusForbidden {
		return
	}
	part := httptest.NewRequest(http.MethodGet, at, nil)
	part.Header.Set("HX-Request", "true")
	v.look(who, "GET "+r.path+" by its script", b.SendRequest(part))
	mark := map[bool]string{true: "&", false: "?"}[strings.Contains(at, "?")]
	v.look(who, "GET "+r.path+" with a search", b.Get(at+mark+"q=zq&path=/v1/"))
}

// TestFormsShowWhatTheRoleMaySee (AP-1, AP-2) sends every form of the route table as each
// role in each domain, about things that there are, and looks at the answers likewise. The
// roles with the fewest rights come first, as others change what there is.
func TestFormsShowWhatTheRoleMaySee(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		v := plantedVillage(t, s)
		b := s.SignIn(ama)
		forms := routesOf(s, http.MethodPost, true)
		for _, domain := range []scope.Domain{scope.Live, scope.Test} {
			for _, role := range slices.Backward(roles[:4]) { // the till role: TestTillSeesNothingElse
				s.SetRole(v.sc, role)
				form := asking(t, b, domain)
				who := newViewer(fmt.Sprintf("%s in %s", role, domain), scope.Scope{BusinessID: v.sc.BusinessID, Domain: domain, Role: role})
				for name, value := range v.guesses(domain) {
					form.Set(name, value)
				}
				for _, r := range forms {
					sent := form
					if r.path == "/dashboard/domain" || strings.HasPrefix(r.path, "/dashboard/account") || strings.HasPrefix(r.path, "/dashboard/team/members") {
						sent = url.Values{"csrf": form["csrf"]} // stay who and where we are
					}
					v.look(who, "POST "+r.path, b.Post(filled(t, r, v.things[domain]), sent))
				}
			}
		}
	})
}

// guesses are fields of forms, filled so that an answer says as much as it can.
func (v village) guesses(domain scope.Domain) map[string]string {
	things := v.things[domain]
	hook := last(things["/dashboard/webhooks/:id"])[1:]
	return map[string]string{
		"endpoint": hook, "webhook_id": last(things["/dashboard/webhooks/:id/deliveries/:event"])[1:], "body": "?",
		"webhook_timestamp": strconv.FormatInt(v.s.Clock.Now().Unix(), 10), "webhook_signature": "v1," + base64.StdEncoding.EncodeToString(make([]byte, 32)),
		"reference": "PAY_NOBODYS", "hash": strings.Repeat("ab", 32), "amount": "0.00000001", "scenario": "exact", "role": "finance", "name": "Name", "title": "Title",
	}
}

// shownByAddress are the columns that a page shows to everyone with its address, by the beginning
// of the address: of a payment, a payment link, an invitation.
var shownByAddress = map[string][]string{
	"pay": {"payments.reference", "payments.business_reference", "payments.customer_email", "payments.remark", "payments.address",
		"transfers.tx_id", "transfers.address"},
	"refund":     {"payments.reference", "sends.hash", "send_claims.address"},
	"l":          {"links.code", "links.title", "links.description"},
	"invitation": {"invitations.email"},
}

// TestOthersSeeWhatTheyMaySee (AP-1, AP-2, AP-3) asks for every other page of the route table
// without anything, by the address that a customer has, and by API keys of both domains.
func TestOthersSeeWhatTheyMaySee(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		v := plantedVillage(t, s)
		b := s.NewBrowser()
		for domain, things := range v.things {
			sc := scope.Scope{BusinessID: v.sc.BusinessID, Domain: domain, Actor: v.sc.Actor, Role: scope.Owner}
			_, key, err := s.Keys.CreateRestrictedKey(t.Context(), sc, "All", apikey.ListPermissions())
			s.FailOn(err)
			sc.Role = scope.API
			var paid models.Payment
			s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", last(things["/v1/payments/:reference"])[1:]).Take(&paid).Error)
			for _, r := range routesOf(s, http.MethodGet, false) {
				at, kind := filled(t, r, things), strings.Split(r.path, "/")[1]
				anybody, keyed := newViewer("anybody", scope.Scope{}), newViewer("a key of "+string(domain), sc)
				if columns, secret := shownByAddress[kind]; secret {
					anybody.name, anybody.columns, keyed.columns = "a reader of /"+kind+" in "+string(domain), columns, columns
					if kind == "pay" || kind == "refund" {
						anybody.payment, keyed.payment = paid.ID, paid.ID
					}
				}
				v.askPage(b, anybody, r, at)
				if !endless(r.path) {
					v.look(keyed, "GET "+r.path, identity{browser: b, key: key}.ask(http.MethodGet, at, "", ""))
				}
			}
		}
	})
}
