package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account/apikey"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/internal/testing/speed"
	"cointill/models"
)

// elsewhere is every address of the server outside the dashboard, with what gives a
// right to it: nothing (anybody), a form of ours and maybe a secret from a mail
// (visitor), the secret in the address (token), or an API key (key).
const elsewhere = `
GET    /healthz                              anybody
GET    /push-worker.js                       anybody
GET    /readyz                               anybody
GET    /static/*                             anybody
GET    /docs                                 anybody
GET    /docs/:chapter                        anybody
GET    /v1/openapi.json                      anybody
GET    /                                     visitor
GET    /sign-up                              visitor
POST   /sign-up                              visitor
GET    /sign-in                              visitor
POST   /sign-in                              visitor
GET    /sign-in/code                         visitor
POST   /sign-in/code                         visitor
GET    /sign-in/passkey                      visitor
POST   /sign-in/passkey                      visitor
POST   /sign-in/passkey/begin                visitor
POST   /sign-out                             visitor
GET    /forgot                               visitor
POST   /forgot                               visitor
GET    /reset/:token                         visitor
POST   /reset/:token                         visitor
GET    /email/:token                         visitor
POST   /email/:token                         visitor
GET    /invitation/:token                    visitor
POST   /invitation/:token                    visitor
GET    /logo/:business/:name                 token
GET    /pay/:token                           token
GET    /pay/:token/status                    token
GET    /pay/:token/events                    token
POST   /pay/:token/network                   token
POST   /pay/:token/open                      token
POST   /pay/:token/claim                     token
POST   /pay/:token/simulate                  token
GET    /refund/:token                        token
POST   /refund/:token                        token
GET    /refund/confirm/:token                token
POST   /refund/confirm/:token                token
GET    /l/:code                              token
POST   /l/:code                              token
POST   /v1/payment/initiate                  key
GET    /v1/payment/verify/:business_reference key
GET    /v1/payments                          key
GET    /v1/payments/:reference/timeline      key
POST   /v1/payments/:reference/accept        key
GET    /v1/unmatched                         key
GET    /v1/unmatched/:id                     key
POST   /v1/unmatched/:id/attach              key
GET    /v1/customers                         key
GET    /v1/customers/:code                   key
GET    /v1/payment-methods                   key
GET    /v1/rates                             key
POST   /v1/payment-links                     key
GET    /v1/payment-links                     key
GET    /v1/payment-links/:id                 key
PATCH  /v1/payment-links/:id                 key
POST   /v1/webhooks                          key
GET    /v1/webhooks                          key
GET    /v1/webhooks/:id                      key
PATCH  /v1/webhooks/:id                      key
DELETE /v1/webhooks/:id                      key
POST   /v1/webhooks/:id/rotate-secret        key
POST   /v1/webhooks/:id/test                 key
GET    /v1/webhooks/:id/deliveries           key
GET    /v1/webhooks/:id/deliveries/:event_id key
GET    /v1/webhooks/:id/missed               key
POST   /v1/webhooks/:id/resend               key
GET    /v1/events                            key
GET    /v1/events/:id                        key
POST   /v1/events/:id/redeliver              key
POST   /v1/events/resend                     key
GET    /v1/resends                           key
POST   /v1/sends                             key
GET    /v1/sends                             key
GET    /v1/sends/:id                         key
POST   /v1/sends/:id/cancel                  key
GET    /v1/sends/:id/signing                 key
POST   /v1/sends/:id/broadcast               key
POST   /v1/sends/:id/transaction             key
POST   /v1/sandbox/sends/:id/simulate        key
POST   /v1/sandbox/sends/:id/approve         key
GET    /v1/me                                key
GET    /v1/statements                        key
GET    /v1/statements/:period                key
GET    /v1/journal                           key
GET    /v1/resends/:id                       key
POST   /v1/sandbox/payments/:reference/simulate key
POST   /v1/sandbox/advance                   key
POST   /v1/sandbox/mine                      key
`

// customerPages are the pages of customers, whose addresses hold a token. The server has them at the full size only, so
// that a change of these pages doesn't repeat the tests of all others; handlers/checkout tests them.
var customerPages []servertest.Pages

// outside is a row of elsewhere.
type outside struct {
	row
	right string
}

// elsewhereOf returns the rows of elsewhere that the server has.
func elsewhereOf(t testing.TB) (list []outside) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(elsewhere)) {
		parts := strings.Fields(line)
		if len(parts) != 3 || !slices.Contains([]string{"anybody", "visitor", "token", "key"}, parts[2]) {
			t.Fatalf("%q is no row", line)
		}
		if parts[2] == "token" && customerPages == nil {
			continue
		}
		list = append(list, outside{row{method: parts[0], path: parts[1]}, parts[2]})
	}
	return list
}

// identity is a person who asks: with a browser, with an API key, or with both.
type identity struct {
	name    string
	browser *servertest.Browser
	key     string
	owner   string // whose things the key names: "Ama in test"
	member  bool   // a user is signed in at the browser
}

// ask sends a request as the identity, with the header that a page of ours would
// send, so that nothing but a missing right can refuse it.
func (i identity) ask(method, path, kind, body string) servertest.Answer {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", kind)
	}
	if i.key != "" {
		r.Header.Set("Authorization", "Bearer "+i.key)
	}
	return i.browser.SendRequest(r)
}

// town is two businesses with things in both domains, and everybody who could ask.
type town struct {
	things map[string]map[string]string // by owner and domain, then by route
	people []identity
}

func settle(t *testing.T, s *servertest.Server) town {
	t.Helper()
	w := town{things: map[string]map[string]string{}, people: []identity{{name: "nobody", browser: s.NewBrowser()}, {name: "a made-up key", browser: s.NewBrowser(), key: "sk_test_" + strings.Repeat("A", 38)}}}
	var amas scope.Scope
	for name, email := range map[string]string{"Ama": ama, "Bayo": bayo} {
		sc := s.CreateBusiness(name+"'s Shop", email)
		if name == "Ama" {
			amas = sc
		}
		leads(t, upload(t, s.SignIn(email), picture(t, "png", 64+8*len(name), 64)), "/dashboard/settings#logo")
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			sc.Domain = domain
			owner := fmt.Sprintf("%s in %s", name, domain)
			w.things[owner] = owned(t, s, sc)
			_, key, err := s.Keys.CreateRestrictedKey(t.Context(), sc, "All", apikey.ListPermissions())
			s.FailOn(err)
			w.people = append(w.people, identity{"the key of " + owner, s.NewBrowser(), key, owner, false})
			b := s.SignIn(email)
			asking(t, b, domain)
			w.people = append(w.people, identity{name: owner + " at a browser", browser: b, member: true})
		}
	}
	for _, role := range roles[1:] {
		email := string(role) + "@till.example"
		hire(t, s, amas, email, role)
		w.people = append(w.people, identity{name: "Ama's " + string(role), browser: s.SignIn(email), member: true})
	}
	for _, who := range slices.Clone(w.people) {
		if strings.HasPrefix(who.owner, "Bayo") {
			w.people = append(w.people, identity{who.name + ", at Ama's browser", s.SignIn(ama), who.key, who.owner, true})
		}
	}
	return w
}

// others are the names of everybody's things but one's, which nobody else may be told.
func (w town) others(one string) (names []string) {
	for owner, things := range w.things {
		for route, at := range things {
			if owner == one || strings.HasPrefix(route, "/logo/") {
				continue
			}
			if name := last(at)[1:]; len(name) >= 12 { // "17" stands everywhere
				names = append(names, name)
			}
		}
	}
	return names
}

// doing are bodies with which an act would happen.
var doing = map[string]string{
	"POST /v1/sandbox/payments/:reference/simulate": `{"scenario":"exact"}`, "POST /v1/webhooks/:id/resend": `{"created_after":"2026-03-01T00:00:00Z"}`,
	"POST /v1/sandbox/sends/:id/simulate": `{"scenario":"exact"}`,
	"POST /v1/sends/:id/broadcast":        `{"signed":"0x02"}`, "POST /v1/sends/:id/transaction": `{"hash":"0x02"}`,
	"POST /v1/unmatched/:id/attach": `{"reference":"order-1"}`,
	"PATCH /v1/webhooks/:id":        `{"active":false}`, "PATCH /v1/payment-links/:id": `{"title":"Taken"}`,
}

// TestEverybodyElsewhere (AP-1, AP-2, AP-3, AP-5) asks for every address outside the
// dashboard, about the things of two businesses in both domains, as everybody that
// there is. A key finds its own things and no others, as if there were none, whoever's
// browser sends it; a browser is nobody to the API; what a secret opens is the same for
// everybody who has it, and opens nothing else.
func TestEverybodyElsewhere(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		w := settle(t, s)
		before, asked := w.traces(s), 0
		for _, who := range w.people {
			if who.member {
				home := "/dashboard/methods"
				if strings.HasSuffix(who.name, " "+string(scope.Till)) {
					home = "/dashboard/till"
				}
				expect(t, who.browser.Get(home), 200)
			}
			s.Clock.Advance(time.Minute) // so that no limit of requests is met
			say(s, "BTC/USD", "60000", "")
			say(s, "USD/NGN", "1500", "")
			for _, r := range elsewhereOf(t) {
				for owner, things := range w.things {
					if !strings.Contains(r.path, ":") {
						owner, things = "nobody", nil
					}
					a, right := w.answer(who, r, owner, things)
					if asked++; !right {
						t.Errorf("%s: %s %s of %s answers %d %s %.200s", who.name, r.method, r.at(things), owner, a.Status, a.Location, a.VisibleText())
					}
					if things == nil {
						break
					}
				}
			}
			if customerPages != nil {
				w.mixed(t, who)
			}
		}
		if after := w.traces(s); after != before || asked < speed.Pick(1_000, 1_500) {
			t.Errorf("%d questions changed\n%s to\n%s", asked, before, after)
		}
	}, customerPages...)
}

// answer asks for a row's address about an owner's things, and judges the answer.
func (w town) answer(who identity, r outside, owner string, things map[string]string) (a servertest.Answer, right bool) {
	method, body, kind := r.method, doing[r.method+" "+r.path], "application/json"
	if strings.HasSuffix(r.path, "/:token/events") { // which has no end
		method = http.MethodHead
	}
	if r.right != "key" && r.method != http.MethodGet {
		body, kind = "scenario=exact", "application/x-www-form-urlencoded"
	}
	switch {
	case r.method == http.MethodGet:
	case r.right == "token": // with the secret anybody may; here is that of another thing
		things = map[string]string{"/pay/:token": "/pay" + last(things["/l/:code"]), "/l/:code": "/l" + last(things["/pay/:token"]),
			"/refund/:token": "/refund" + last(things["/pay/:token"]), "/refund/confirm/:token": "/refund/confirm" + last(things["/refund/:token"])}
	case who.owner == owner: // nothing of its own is to change
		things = nil
	}
	a = who.ask(method, r.at(things), kind, body)
	switch {
	case r.right == "anybody" || r.right == "visitor" && r.method == http.MethodGet:
		nobody := w.people[0].ask(method, r.at(things), kind, body)
		return a, a.Status == nobody.Status && a.Location == nobody.Location || r.right == "visitor" && who.member && a.Status < 400
	case r.right == "visitor": // there is no token of ours in the form
		return a, a.Status == 403
	case r.right == "token" && r.method == http.MethodGet:
		return a, a.Status == 200
	case r.right == "token":
		return a, a.Status == 404
	case who.owner == "":
		return a, a.Status == 401
	case strings.Contains(r.path, ":") && !strings.HasSuffix(r.path, ":period") && who.owner != owner: // a period is of all
		return a, a.Status == 404
	case r.method != http.MethodGet:
		return a, a.Status >= 400 && a.Status < 500
	case strings.HasSuffix(r.path, "/signing"): // of a send without approval
		return a, a.Status == 409
	}
	return a, a.Status == 200 && (who.owner == owner || !slices.ContainsFunc(w.others(who.owner), func(name string) bool { return strings.Contains(a.Body, name) }))
}

// mixed asks for one thing by the secret of another, and has a live payment simulated.
func (w town) mixed(t *testing.T, who identity) {
	t.Helper()
	ama, bayo := w.things["Ama in test"], w.things["Bayo in live"]
	logo := ama["/logo/:business/:name"]
	for _, at := range []string{"GET /pay" + last(ama["/v1/payments/:reference"]), "GET " + ama["/pay/:token"] + "x", "GET /l" + last(ama["/pay/:token"]),
		"GET " + strings.TrimSuffix(logo, last(logo)) + last(bayo["/logo/:business/:name"]), "POST " + bayo["/pay/:token"] + "/simulate"} {
		method, path, _ := strings.Cut(at, " ")
		if a := who.ask(method, path, "application/x-www-form-urlencoded", "scenario=exact"); a.Status != 404 {
			t.Errorf("%s: %s answers %d", who.name, at, a.Status)
		}
	}
}

// last is the last part of an address, with its slash.
func last(at string) string { return at[strings.LastIndex(at, "/"):] }

// traces is what would be different if anything of anybody had changed.
func (w town) traces(s *servertest.Server) string {
	s.T.Helper()
	var text strings.Builder
	for _, table := range []any{&[]models.Payment{}, &[]models.Link{}, &[]models.Endpoint{}, &[]models.Event{}, &[]models.Delivery{}, &[]models.Resend{}} {
		s.FailOn(s.DB.Read(s.T.Context()).Order("id").Find(table).Error)
		data, err := json.Marshal(table)
		s.FailOn(err)
		text.Write(append(data, '\n'))
	}
	return text.String()
}

// TestKeysOpenNoPages (AP-1, AP-5) asks for every page and act of the dashboard with
// API keys: to pages, a key is nobody.
func TestKeysOpenNoPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		w := settle(t, s)
		for _, who := range w.people {
			if who.key == "" || who.member {
				continue
			}
			who.browser.Header["Cookie"] = "session=" + who.key
			for _, r := range rowsOf(t) {
				at := r.at(w.things["Ama in test"])
				if a := who.ask(r.method, at, "application/x-www-form-urlencoded", "csrf="+who.key); r.method != http.MethodGet {
					expect(t, a, 403)
				} else {
					leads(t, a, "/sign-in?next="+url.QueryEscape(at))
				}
			}
		}
	})
}

// endless reports an address of events, which come without end.
func endless(address string) bool {
	return strings.Contains(address, "events") && strings.Contains(address, "pay") || strings.HasPrefix(address, "/dashboard/live") ||
		strings.HasPrefix(address, "/dashboard/till/live")
}

// everyRow is the whole server: the dashboard's addresses and those elsewhere.
func everyRow(t testing.TB) []row {
	t.Helper()
	all := rowsOf(t)
	for _, r := range elsewhereOf(t) {
		all = append(all, r.row)
	}
	return all
}

// shut is what keeps other sites from framing an answer, reading it or guessing what it is.
var shut = map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Access-Control-Allow-Origin": ""}

// TestEveryAnswerIsShut (AP-23) looks at the headers of every address, where something is
// and where nothing is, by the right method and by a wrong one, as an owner and as nobody.
func TestEveryAnswerIsShut(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		leads(t, upload(t, b, picture(t, "png", 64, 64)), "/dashboard/settings#logo")
		things := owned(t, s, sc)
		for _, r := range everyRow(t) {
			method := r.method
			if endless(r.path) {
				method = http.MethodHead
			}
			here, nowhere := r.at(things), r.at(nil)
			for _, asked := range []struct {
				who        *servertest.Browser
				method, at string
			}{{b, method, here}, {b, method, nowhere}, {s.NewBrowser(), method, here}, {s.NewBrowser(), http.MethodPut, here}, {b, http.MethodOptions, nowhere}} {
				a := asked.who.SendRequest(httptest.NewRequest(asked.method, asked.at, nil))
				what := fmt.Sprintf("%s %s, %d", asked.method, asked.at, a.Status)
				if asked.method != method && a.Status != http.StatusMethodNotAllowed {
					t.Errorf("what = %v", what)
				}
				for name, want := range shut {
					if got := a.Header.Get(name); got != want && !(asked.at == "/v1/openapi.json" && name == "Access-Control-Allow-Origin" && got == "*") {
						t.Errorf("%s: %s is %q", what, name, got)
					}
				}
				if csp := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || !strings.Contains(csp, "frame-ancestors 'none'") && !strings.HasSuffix(csp, "; sandbox") {
					t.Errorf("%s: %s", what, csp)
				}
				if policy := a.Header.Get("Cross-Origin-Resource-Policy"); policy != "same-origin" && !(strings.HasPrefix(asked.at, "/logo/") && a.Status == http.StatusOK) { // mails show logos
					t.Errorf("%s: others may have it: %q", what, policy)
				}
			}
			s.Clock.Advance(10 * time.Second) // for a client that asks much
		}
	}, customerPages...)
}
