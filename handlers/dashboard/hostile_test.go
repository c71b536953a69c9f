package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// hostile are texts that have broken pages and sheets before.
var hostile = map[string]string{
	"script":     `"><script>alert(1)</script>`,
	"turned":     "Shop\u202egnp.exe",
	"formula":    `=HYPERLINK("http://evil.example","x")`,
	"long":       strings.Repeat("x", 10_000),
	"long marks": strings.Repeat("\u202e", 3_000),
	"zero":       "a\x00b",
	"no UTF-8":   "a\xff\xfeb",
	"lines":      "a\r\nBcc: b@example.com",
	"true":       "x' OR '1'='1' --",
	"drop":       `"); DROP TABLE payments; --`,
	"union":      "0 UNION SELECT password_hash FROM users",
	"sleep":      "1; SELECT pg_sleep(60)--",
	"wild":       `%' OR name LIKE '%\`,
}

// limit is how a sentence names the length that a text may have.
var limit = regexp.MustCompile(`May not hold|May hold|\d+ (characters|lowercase|of the characters)|at most|whole number|plain e-mail|Must be|Choose one|Is no |is no |begins with|don't belong|No payment here|do not|can't be|isn't|Not a|not a`)

// entered is what stands in a form's own fields: whatever was typed, and only
// within its field does it run the other way.
var entered = regexp.MustCompile(`(?s) value="[^"]*"|<textarea[^>]*>.*?</textarea>`)

// typedForm is a form with the fields of it that take text.
type typedForm struct {
	page, path string
	base       url.Values
	fields     string // parted by spaces
}

// formsOfText are all the forms of the pages that take text from their reader,
// but those that ask for a password, which has a test of its own.
func formsOfText(t testing.TB, s *servertest.Server, sc scope.Scope) []typedForm {
	t.Helper()
	reference := declined(s, sc)
	opened, err := s.Payments.Verify(t.Context(), sc, reference)
	s.FailOn(err)
	stray := fmt.Sprintf("/dashboard/unmatched/%d", untagged(s, sc, strings.Repeat("ab", 32), opened.Payment).ID)
	made, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD", MinAmount: 2, MaxAmount: 50})
	s.FailOn(err)
	changed, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Class", Currency: "USD", MinAmount: 2, MaxAmount: 50})
	s.FailOn(err)
	waiting := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
	_, err = s.Payments.Open(t.Context(), waiting.AccessToken, "", "")
	s.FailOn(err)
	payment, edit := "/dashboard/payments/"+reference, fmt.Sprintf("/dashboard/links/%d", changed.ID)
	shown := url.Values{"title": {"Class"}, "amount_kind": {"fixed"}, "currency": {"NGN"}, "amount": {"100"}, "methods": {"crypto_ripple"}}
	list := []typedForm{
		{accountAt, accountAt, nil, "name"},
		{"/dashboard/links/new", "/dashboard/links", shown, "title description currency amount expires_at usage_limit redirect_url methods"},
		{edit + "/edit", edit, shown, "title description redirect_url"},
		{"/dashboard/webhooks/new", "/dashboard/webhooks", url.Values{"type": {"Shop"}, "url": {"https://shop.example/"}, "header_name_0": {"X-Key"}, "header_value_0": {"v"}}, "type url header_name_0 header_value_0"},
		{"/dashboard/webhooks/check", "/dashboard/webhooks/check", url.Values{"body": {"{}"}}, "webhook_id webhook_timestamp webhook_signature body endpoint"},
		{"/dashboard/keys", "/dashboard/keys", url.Values{"permission.links": {"true"}}, "name"},
		{"/dashboard/settings", "/dashboard/settings/profile", url.Values{"name": {"Shop"}}, "name contact_email support_url"},
		{"/dashboard/settings", "/dashboard/settings/payments", url.Values{"under": {"0"}, "over": {"0"}, "late_payments": {"accept"}, "currency": {"NGN"}, "time_zone": {"UTC"}}, "under over late_payments currency time_zone"},
		{"/dashboard/settings", "/dashboard/settings/confirmations", nil, "BTC_small DOGE_large"},
		{teamAt, teamAt + "/invitations", url.Values{"role": {"finance"}}, "email role"},
		{"/dashboard/rates/NGN", "/dashboard/rates/NGN", url.Values{"market": {"official"}, "spread": {"0"}}, "market spread manual manual_until"},
		{walletAt, walletAt + "/review", url.Values{"script": {"wpkh"}}, "key script address"},
		{payment + "/refund", payment + "/refund/review", url.Values{"amount": {"0.00000100"}}, "amount hash note"},
		{"/dashboard/sends/new", "/dashboard/sends", url.Values{"payment_method": {"crypto_bitcoin"}, "amount": {"0.01"}, "address": {anAddress}}, "payment transfer amount fiat_amount currency address tag note payment_method business_reference"},
		{stray, stray + "/attach/review", nil, "reference"},
		{stray, stray + "/refund", nil, "hash note"},
		{stray, stray + "/refund/review", nil, "hash note"},
		{"/forgot", "/forgot", nil, "email"},
	}
	if customerPages != nil {
		list = append(list,
			typedForm{"", "/l/" + made.Code, url.Values{"amount": {"5"}, "payment_method": {"crypto_ripple"}, "first_name": {"Ngozi"}, "last_name": {"Eze"}, "email": {"ngozi@example.com"}}, "amount payment_method first_name last_name email"},
			typedForm{"", "/pay/" + waiting.AccessToken + "/claim", nil, "hash"})
	}
	return list
}

// TestHostileText (AP-7, AP-8, AP-20) types each of these into each field of each form: it is
// taken and shown as the text that it is, or comes back with a sentence that says what
// the field takes. Nothing of it turns a page's words around, and nothing runs.
func TestHostileText(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		s.UseMailServer()
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		forms := formsOfText(t, s, sc)
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest") // which asks for a wallet
		for _, f := range forms {
			for _, field := range strings.Fields(f.fields) {
				for name, text := range hostile {
					what := fmt.Sprintf("%s %s %s", f.path, field, name)
					a := f.send(b, field, text)
					harmless(t, what, a)
					switch {
					case a.Status == http.StatusOK, a.Status == http.StatusCreated, a.Status == http.StatusSeeOther, a.Status == http.StatusTooManyRequests:
						if len(text) > 2_000 && !strings.Contains("body reference", field) && !strings.HasPrefix(field, "webhook_") && a.Status == http.StatusSeeOther {
							t.Errorf("%s was stored whole: %d", what, a.Status)
						}
					case a.Status == http.StatusUnprocessableEntity:
						if !limit.MatchString(a.VisibleText()) {
							_, said, _ := strings.Cut(a.VisibleText(), "saved yet")
							t.Errorf("%s: no sentence says what it takes: %.300s", what, said)
						}
					case a.Status != http.StatusConflict && a.Status != http.StatusRequestEntityTooLarge && a.Status != http.StatusNotFound:
						t.Errorf("%s answers %d: %.300s", what, a.Status, a.VisibleText())
					}
				}
			}
		}
		for _, at := range []string{"/dashboard", "/dashboard/payments", "/dashboard/links", "/dashboard/webhooks", "/dashboard/keys", "/dashboard/settings", teamAt, accountAt, "/dashboard/audit", "/dashboard/customers", "/dashboard/mailbox", "/dashboard/rates/NGN"} {
			a := b.Get(at)
			expect(t, a, 200)
			harmless(t, at, a)
		}
		if n := rows(s, &models.Link{}, "length(title) > 100 OR length(description) > 2000"); n != 0 {
			t.Errorf("%d long links", n)
		}
	}, customerPages...)
}

// send sends the form with one field so.
func (f typedForm) send(b *servertest.Browser, field, text string) servertest.Answer {
	values := url.Values{}
	for name, list := range f.base {
		values[name] = list
	}
	values.Set(field, text)
	if f.page == "" {
		return b.Post(f.path, values)
	}
	return b.PostFrom(f.page, f.path, values)
}

// harmless fails for a page that runs what was typed, or is turned around by it.
func harmless(t testing.TB, what string, a servertest.Answer) {
	t.Helper()
	around := html.UnescapeString(a.Body)
	if strings.ContainsAny(around, "\u202e\x00") {
		around = html.UnescapeString(entered.ReplaceAllString(a.Body, ""))
	}
	if a.Status >= 500 || strings.Contains(a.Body, "<script>alert") || strings.ContainsAny(around, "\u202e\x00") || strings.Contains(a.Location+strings.Join(a.Header.Values("Bcc"), ""), "\n") {
		at := max(0, strings.Index(around, "\u202e")-60)
		t.Errorf("%s: %d …%.200q", what, a.Status, around[at:])
	}
}

// TestHostileQuestions (AP-7, AP-20) asks lists for the same texts by their addresses.
func TestHostileQuestions(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		things(t, s, sc)
		b := s.SignIn(ama)
		for at, fields := range map[string]string{
			"/dashboard":          "period from to currency",
			"/dashboard/payments": "q status method currency period from to min max col size older newer need", "/dashboard/payments/export": "q status min ref ticked", "/dashboard/payments/resend": "q ref", "/dashboard/payments/export.csv": "q",
			"/dashboard/customers": "q before", "/dashboard/unmatched": "show before", "/dashboard/sends": "show payment before", "/dashboard/sends/new": "payment transfer", "/dashboard/webhooks/resends": "endpoint", "/dashboard/webhooks/resends/review": "created_after endpoint types",
			"/dashboard/links": "cursor", "/dashboard/audit": "what who from to", "/dashboard/calls": "status path before", "/dashboard/mailbox": "cursor", "/dashboard/rates": "pair", "/sign-in": "next", "/sign-up": "next",
		} {
			for _, field := range strings.Fields(fields) {
				for name, text := range hostile {
					address := at + "?" + url.Values{field: {text}}.Encode()
					a := b.Get(address[:min(len(address), 6_000)]) // a longer one is answered before any page
					what := fmt.Sprintf("%s %s %s", at, field, name)
					harmless(t, what, a)
					if a.Status == http.StatusBadRequest && a.VisibleText() == "" {
						t.Errorf("%s says nothing", what)
					}
				}
			}
		}
	})
}

// TestInjection (AP-20) asks every search and filter, of pages and of the API, for texts that
// would find everything if they were read as SQL or as a pattern: none finds the one payment
// that there is, on either database, and it is there afterwards.
func TestInjection(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		_, key, err := s.Keys.CreateKey(t.Context(), sc, "Server")
		s.FailOn(err)
		b := s.SignIn(ama)
		who := identity{browser: s.NewBrowser(), key: key}
		texts := []string{"%", "_", "PAY%", "PAY_%", "%@%", "*", `\`, `PAY\_%`, "' OR 1=1 --", "x' OR '1'='1", `x" OR "1"="1`, "') OR ('1'='1", "'; DROP TABLE payments; --",
			"0 OR 1=1", "1) OR (1=1", "x' UNION SELECT * FROM payments --", "x' || '", "$1", "?", "@now", ":id", "{table}", "''", "';", "x'/**/OR/**/1=1#", "\x27 OR 1=1", "%27 OR 1=1 --"}
		for _, text := range texts {
			q := url.QueryEscape(text)
			for at, fields := range map[string]string{"/dashboard/payments": "q", "/dashboard/customers": "q", "/dashboard/payments/export.csv": "q", "/v1/payments": "reference email hash address status currency payment_method"} {
				for _, field := range strings.Fields(fields) {
					a := who.ask(http.MethodGet, at+"?"+field+"="+q, "", "")
					if strings.HasPrefix(at, "/dashboard") {
						a = b.Get(at + "?" + field + "=" + q)
					}
					if a.Status >= 500 || strings.Contains(a.VisibleText(), started.Reference) || strings.Contains(a.VisibleText(), "ngozi@example.com") {
						t.Errorf("%s %s=%s answers %d: %.300s", at, field, text, a.Status, a.VisibleText())
					}
				}
			}
			if a := who.ask(http.MethodGet, "/v1/payment/verify/"+url.PathEscape(text), "", ""); a.Status != http.StatusNotFound {
				t.Errorf("%s is verified: %d %s", text, a.Status, a.Body)
			}
		}
		if a := b.Get("/dashboard/payments?status=pending&q=" + started.Reference); !strings.Contains(a.Body, started.Reference) {
			t.Error("the payment is gone")
		}
		if a := who.ask(http.MethodGet, "/v1/payments?reference="+started.Reference[:12], "", ""); !strings.Contains(a.Body, started.Reference) {
			t.Errorf("the payment is gone: %s", a.Body)
		}
	})
}

// TestSignInLeadsHome (AP-22): of where to go after signing in the page keeps a path of the
// dashboard's, and another site's in no spelling; a form that names one leads home.
func TestSignInLeadsHome(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.NewBrowser()
		expect(t, b.Get("/sign-in?next=%2Fdashboard%2Fevil.example"), 200, `value="/dashboard/evil.example"`)
		for _, next := range []string{"https://evil.example", "//evil.example", "///evil.example", `/\evil.example`, `/\/evil.example`, "/%2fevil.example", "javascript:evil.example",
			`/dashboard\evil.example`, "/dashboard%5cevil.example", "/dashboard\t//evil.example", "/dashboard\r\n//evil.example", "/dashboard/%zzevil.example", `/invitation/\evil.example`} {
			if a := b.Get("/sign-in?next=" + url.QueryEscape(next)); a.Status != 200 || strings.Contains(a.Body, "evil.example") {
				t.Errorf("%q is kept (%d)", next, a.Status)
			}
		}
		leads(t, b.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {servertest.Password}, "next": {`/dashboard\evil.example`}}), "/dashboard")
	})
}
