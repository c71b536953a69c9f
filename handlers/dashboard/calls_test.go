package dashboard_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/apilog"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestCallPages shows requests, chosen by status, key and path, and one of them.
func TestCallPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		key, _, err := s.Keys.CreateKey(t.Context(), sc, "Till <1>")
		s.FailOn(err)
		by := sc
		by.Actor = fmt.Sprintf("key:%d", key.ID)
		s.Calls.AddCall(apilog.Call{Scope: by, Method: "GET", Path: "/v1/rates?x=<script>", Status: 200, Took: 42 * time.Millisecond, Origin: scope.Origin{IP: "203.0.113.9", Agent: "curl/8.5", Request: "req_1"}})
		s.Calls.AddCall(apilog.Call{Scope: by, Method: "POST", Path: "/v1/payment/initiate", Status: 422, Body: []byte(`{"email":"ada@example.com"}`), Answer: []byte(`{"status":false,"code":"validation_failed"}`)})
		s.FailOn(s.Calls.FlushQueue(t.Context()))
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/calls"), 200, "GET /v1/rates?x=<script>", "42 ms", "Till <1>", "validation_failed", "2 requests")
		refused := b.Get("/dashboard/calls?status=4")
		if strings.Contains(refused.VisibleText(), "/v1/rates") {
			t.Errorf("refused.Text() = %v", refused.VisibleText())
		}
		expect(t, b.Get("/dashboard/calls?path=/v1/rates&key="+fmt.Sprint(key.ID)), 200, "1 request")
		expect(t, b.Get("/dashboard/calls?status=9&key=x&before=0"), 200, "There is no status “9”", "There is no API key “x”", "No page starts at “0”", "2 requests")
		expect(t, b.Get("/dashboard/calls?status=5"), 200, "No requests found")
		at := regexp.MustCompile(`/dashboard/calls/\d+`).FindString(refused.Body)
		expect(t, b.Get(at), 200, `"email": "a…@example.com"`, "validation_failed", "under 1 ms")
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/calls/1"}}), "/dashboard/calls")
		expect(t, b.Get("/dashboard/calls"), 200, "No requests yet")
		expect(t, b.Get(at), 404)
	})
}

var shownKey = regexp.MustCompile(`sk_test_[0-9A-Z]{38}`)

// TestQuickstart puts a key into the programs, once however often it is pressed.
func TestQuickstart(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		before := b.Get("/dashboard/quickstart")
		expect(t, before, 200, "sk_test_…", servertest.Base+"/v1/payment/initiate", "Insert a test key")
		form := url.Values{"once": {nonce.FindStringSubmatch(before.Body)[1]}}
		first := b.PostFrom("/dashboard/quickstart", "/dashboard/quickstart", form)
		expect(t, first, 201, "not shown again")
		key := shownKey.FindString(first.Body)
		if n := strings.Count(first.Body, key); key == "" || n < 7 {
			t.Errorf("%q stands there %d times", key, n)
		}
		if twin := b.PostFrom("/dashboard/quickstart", "/dashboard/quickstart", form); shownKey.FindString(twin.Body) != key {
			t.Errorf(`b.PostFrom("/dashboard/quickstart", "/dashboard/quickstart", form): twin.Text() = %v`, twin.VisibleText())
		}
		if n := rows(s, &models.APIKey{}, "name = 'Quickstart'"); n != 1 {
			t.Errorf("%d keys", n)
		}
		till := url.Values{"name": {"Till"}, "permission.links": {"true"}, "once": form["once"]}
		made, again := b.PostFrom("/dashboard/keys", "/dashboard/keys", till), b.PostFrom("/dashboard/keys", "/dashboard/keys", till)
		if a := shownKey.FindString(made.Body); a == "" || a != shownKey.FindString(again.Body) || rows(s, &models.APIKey{}, "name = 'Till'") != 1 {
			t.Error("a key was made twice")
		}
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/calls/1"}}), "/dashboard/calls")
		expect(t, b.Get("/dashboard/quickstart"), 200, "sk_live_…", "Start in the test domain")
		expect(t, b.PostFrom("/dashboard/quickstart", "/dashboard/quickstart", nil), 409, "in the test domain only")
	})
}

var nonce = regexp.MustCompile(`name="once" value="([^"]+)"`)
