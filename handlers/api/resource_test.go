package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/account/apikey"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestAuthentication (AP-4, AP-5): a key counts in its one header only, whole, and until
// it is revoked.
func TestAuthentication(t *testing.T) {
	b := quick(t)
	for name, key := range map[string]string{"none": "", "unknown": "sk_test_" + strings.Repeat("A", 38), "mistyped": b.key[:len(b.key)-1] + "!", "cut": b.key[:20]} {
		a := b.callAs(key, "GET", "/v1/payments", "")
		if a.Status != 401 || a.Body.Code != "invalid_api_key" || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") || a.Header.Get("RateLimit") == "" {
			t.Errorf("%s: %d %s %v", name, a.Status, a.Raw, a.Header)
		}
	}
	// A signed-in browser's cookie, a key elsewhere than in the header, or a password is no key.
	b.expect(b.callAs("", "GET", "/v1/payments?key="+b.key, "", "Cookie", "session="+b.key), 401, "invalid_api_key")
	b.expect(b.callAs("", "GET", "/v1/payments", "", "Authorization", "Basic a29maTpwYXNz"), 401, "invalid_api_key")
	sc := scope.Scope{BusinessID: b.business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	keys, err := b.keys.ListKeys(t.Context(), sc)
	b.must(err)
	b.must(b.keys.RevokeKey(t.Context(), sc, keys[0].ID))
	b.expect(b.call("GET", "/v1/payments", ""), 401, "invalid_api_key")
}

// TestOutageIsNobodysFault: while nobody can look a key up, no answer says that too many
// requests were made, however many they are.
func TestOutageIsNobodysFault(t *testing.T) {
	b := quick(t)
	b.must(b.db.Close())
	for range 301 { // one more than a stranger may
		if a := b.call("GET", "/v1/payments", ""); a.Status < 500 {
			t.Fatalf(`b.call("GET", "/v1/payments", ""): a.Status = %v, a.Raw = %v`, a.Status, a.Raw)
		}
	}
}

func TestRateLimit(t *testing.T) {
	b := newBench(t, modelstest.Open(t, false, time.Now), 3)
	for left := 2; left >= 0; left-- {
		a := b.expect(b.call("GET", "/v1/webhooks", ""), 200, "")
		if got := a.Header.Get("RateLimit"); got != fmt.Sprintf(`"default";r=%d;t=60`, left) || a.Header.Get("RateLimit-Policy") != `"default";q=3;w=60` {
			t.Errorf("%s, %s", got, a.Header.Get("RateLimit-Policy"))
		}
	}
	a := b.expect(b.call("POST", "/v1/payment/initiate", body()), 429, "rate_limited")
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	b.expect(b.callAs(b.liveKey, "GET", "/v1/webhooks", ""), 200, "")
	b.clock.Advance(time.Minute)
	b.expect(b.call("GET", "/v1/webhooks", ""), 200, "")
}

// TestStrangers (AP-10): requests without a good key are counted by the client's own
// address, which a trusted proxy names.
func TestStrangers(t *testing.T) {
	b := quick(t)
	from := func(address string) answer {
		return b.callAs("", "GET", "/v1/payments", "", "X-Forwarded-For", address)
	}
	for range 300 {
		from("203.0.113.7")
	}
	b.expect(from("203.0.113.7"), 429, "rate_limited")
	b.expect(from("198.51.100.1, 203.0.113.7"), 429, "rate_limited")
	b.expect(from("203.0.113.8"), 401, "invalid_api_key")
	for i := range 300 {
		from(fmt.Sprintf("2001:db8::%x", i))
	}
	b.expect(from("2001:db8::ffff"), 429, "rate_limited") // a /64 is one client's
	b.expect(from("2001:db8:0:1::1"), 401, "invalid_api_key")
	b.expect(b.call("GET", "/v1/payments", "", "X-Forwarded-For", "203.0.113.7"), 200, "")
}

type hook struct {
	ID, Type, Domain, URL, Status, Secret string
	CreatedAt                             string `json:"created_at"`
	UpdatedAt                             string `json:"updated_at"`
}

func (b *bench) hook(url string) (h hook) {
	b.Helper()
	b.into(b.expect(b.call("POST", "/v1/webhooks", fmt.Sprintf(`{"type":"orders","url":%q,"active":true}`, url)), 201, ""), &h)
	return h
}

func TestWebhooks(t *testing.T) {
	each(t, func(b *bench) {
		h := b.hook("https://shop.example/hook")
		if h.Domain != "test" || h.URL != "https://shop.example/hook" || h.Status != "active" || h.Type != "orders" || !strings.HasPrefix(h.Secret, "whsec_") ||
			h.CreatedAt != "2026-03-01T12:00:00.000000Z" || h.UpdatedAt != h.CreatedAt {
			b.Errorf("%+v", h)
		}
		for range 3 {
			b.hook("https://shop.example/hook")
		}
		first := b.expect(b.call("GET", "/v1/webhooks?limit=3", ""), 200, "")
		rest := b.expect(b.call("GET", "/v1/webhooks?limit=3&cursor="+*first.Body.Meta.NextCursor, ""), 200, "")
		if strings.Contains(first.Raw+rest.Raw, "whsec_") || !first.Body.Meta.HasMore || rest.Body.Meta.HasMore || strings.Count(rest.Raw, `"id"`) != 1 {
			b.Errorf("%s %s", first.Raw, rest.Raw)
		}
		at := "/v1/webhooks/" + h.ID
		var changed hook
		b.into(b.expect(b.call("PATCH", at, `{"active":false}`), 200, ""), &changed)
		if changed.Status != "inactive" || changed.URL != h.URL || changed.Type != h.Type {
			b.Errorf("%+v", changed)
		}
		b.expect(b.call("POST", at+"/test", ""), 409, "webhook_inactive")
		b.into(b.expect(b.call("PATCH", at, `{"active":true,"type":"all","url":"https://shop.example/other"}`), 200, ""), &changed)
		if changed.Status != "active" || changed.URL != "https://shop.example/other" || changed.Type != "all" {
			b.Errorf("%+v", changed)
		}
		b.expect(b.call("PATCH", at, `{}`), 200, "")
		b.expect(b.call("PATCH", at, ``), 400, "unreadable_json")
		b.expect(b.call("PATCH", at, `{"active":"true"}`), 422, "validation_failed")
		var rotated hook
		b.into(b.expect(b.call("POST", at+"/rotate-secret", ""), 200, ""), &rotated)
		if rotated.Secret == h.Secret || !strings.HasPrefix(rotated.Secret, "whsec_") {
			b.Errorf("%+v", rotated)
		}
		_, other, _ := b.merchant("Abena Fabrics", "abena@fabrics.example")
		for _, key := range []string{other, b.liveKey} {
			b.expect(b.callAs(key, "GET", at, ""), 404, "not_found")
			b.expect(b.callAs(key, "PATCH", at, `{"active":false}`), 404, "not_found")
			b.expect(b.callAs(key, "DELETE", at, ""), 404, "not_found")
			b.expect(b.callAs(key, "POST", at+"/rotate-secret", ""), 404, "not_found")
			b.expect(b.callAs(key, "POST", at+"/test", ""), 404, "not_found")
		}
		b.expect(b.call("DELETE", at, ""), 200, "")
		b.expect(b.call("GET", at, ""), 404, "not_found")
		b.expect(b.call("DELETE", at, ""), 404, "not_found")
	})
}

func TestWebhooksThatAreRefused(t *testing.T) {
	b := quick(t)
	for text, fields := range map[string]int{
		`{}`: 3, `{"type":1,"url":2,"active":3}`: 3, `{"type":"","url":"","active":true}`: 2, `{"type":"a","url":"ftp://x.example","active":true}`: 1,
		`{"type":"a","url":"https://u:p@x.example","active":true}`: 1, `{"type":"a","url":"https://x.example:25/","active":true}`: 1,
		`{"type":"a","url":"https://x.example/#f","active":true}`: 1, `{"type":"a","url":"//x.example","active":"true"}`: 2, `{"type":"","url":"x","active":null}`: 3,
	} {
		a := b.call("POST", "/v1/webhooks", text)
		if a.Status != 422 || len(a.Body.Errors) != fields {
			t.Errorf("%s: %d %v, want %d fields", text, a.Status, a.Body.Errors, fields)
		}
	}
	b.expect(b.callAs(b.liveKey, "POST", "/v1/webhooks", `{"type":"a","url":"http://x.example/","active":true}`), 422, "validation_failed")
}

func TestEvents(t *testing.T) {
	each(t, func(b *bench) {
		s := b.initiate("metadata", `{"n":1.50}`)
		b.expect(b.call("POST", "/v1/events/evt_none/redeliver", ""), 404, "not_found")
		h := b.hook("https://shop.example/hook")
		var test struct {
			EventID string `json:"event_id"`
		}
		b.into(b.expect(b.call("POST", "/v1/webhooks/"+h.ID+"/test", ""), 200, ""), &test)
		b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"exact"}`), 200, "")
		b.pass(40 * time.Second)
		all := b.expect(b.call("GET", "/v1/events", ""), 200, "")
		var events []struct {
			ID, Type string
			Sequence int
		}
		b.into(all, &events)
		var types []string
		for _, e := range events {
			types = append(types, e.Type)
		}
		if got := strings.Join(types, " "); got != "payment.successful payment.processing payment.detected payment.initiated webhook.test" || !strings.Contains(all.Raw, `{"n":1.50}`) {
			b.Errorf("%s: %s", got, all.Raw)
		}
		if a := b.call("GET", "/v1/events?type=payment.successful&limit=1", ""); strings.Count(a.Raw, `"sequence"`) != 1 {
			b.Errorf("%s", a.Raw)
		}
		b.expect(b.call("GET", "/v1/events?type=payment.lost", ""), 422, "validation_failed")
		one := b.expect(b.call("GET", "/v1/events/"+test.EventID, ""), 200, "")
		if !strings.Contains(one.Raw, `"state":"pending"`) || !strings.Contains(one.Raw, h.ID) {
			b.Errorf("%s", one.Raw)
		}
		again := b.expect(b.call("POST", "/v1/events/"+events[0].ID+"/redeliver", ""), 200, "")
		if !strings.Contains(again.Raw, `"webhooks":1`) {
			b.Errorf("%s", again.Raw)
		}
		for _, path := range []string{"/v1/events/" + test.EventID, "/v1/events/" + events[0].ID} {
			b.expect(b.callAs(b.liveKey, "GET", path, ""), 404, "not_found")
			b.expect(b.callAs(b.liveKey, "POST", path+"/redeliver", ""), 404, "not_found")
		}
		b.expect(b.call("DELETE", "/v1/webhooks/"+h.ID, ""), 200, "")
		b.expect(b.call("POST", "/v1/events/"+events[0].ID+"/redeliver", ""), 409, "no_active_webhook")
	})
}

func TestPaymentLinks(t *testing.T) {
	each(t, func(b *bench) {
		var l map[string]any
		b.into(b.expect(b.call("POST", "/v1/payment-links", `{"title":"Ticket","description":"One seat","currency":"KES","amount":1500,"methods":["crypto_bitcoin","crypto_ripple"],`+
			`"redirect_url":"https://shop.example/thanks","usage_limit":40,"expires_at":"2026-03-14T12:00:00+03:00"}`), 201, ""), &l)
		if l["amount"] != 1500.0 || l["expires_at"] != "2026-03-14T09:00:00.000000Z" || l["url"] != base+"/l/"+l["id"].(string) || l["active"] != true || l["usage_limit"] != 40.0 {
			b.Errorf("%v", l)
		}
		at := "/v1/payment-links/" + l["id"].(string)
		b.into(b.expect(b.call("PATCH", at, `{"amount":null,"min_amount":5,"usage_limit":null,"expires_at":null,"methods":[],"title":"Gift"}`), 200, ""), &l)
		if l["amount"] != nil || l["min_amount"] != 5.0 || l["usage_limit"] != nil || l["expires_at"] != nil || len(l["methods"].([]any)) != 0 || l["title"] != "Gift" || l["description"] != "One seat" {
			b.Errorf("%v", l)
		}
		b.into(b.expect(b.call("PATCH", at, `{"active":false}`), 200, ""), &l)
		if l["active"] != false || l["state"] != "inactive" || l["title"] != "Gift" {
			b.Errorf("%v", l)
		}
		b.into(b.expect(b.call("PATCH", at, `{"active":true,"title":"Present"}`), 200, ""), &l)
		if l["active"] != true || l["state"] != "open" || l["title"] != "Present" {
			b.Errorf("%v", l)
		}
		b.expect(b.call("PATCH", at, `{"active":false,"title":""}`), 422, "validation_failed")
		b.into(b.expect(b.call("GET", at, ""), 200, ""), &l)
		if l["active"] != true {
			b.Errorf("a refused change left a mark: %v", l)
		}
		for range 3 {
			b.expect(b.call("POST", "/v1/payment-links", `{"title":"A","currency":"USD"}`), 201, "")
		}
		first := b.expect(b.call("GET", "/v1/payment-links?limit=3", ""), 200, "")
		rest := b.expect(b.call("GET", "/v1/payment-links?limit=3&cursor="+*first.Body.Meta.NextCursor, ""), 200, "")
		var items []json.RawMessage
		b.into(rest, &items)
		if len(items) != 1 || rest.Body.Meta.HasMore {
			b.Errorf("%s", rest.Raw)
		}
		b.expect(b.call("GET", "/v1/payments?cursor="+*first.Body.Meta.NextCursor, ""), 422, "validation_failed")
		_, other, _ := b.merchant("Abena Fabrics", "abena@fabrics.example")
		for _, key := range []string{other, b.liveKey} {
			b.expect(b.callAs(key, "GET", at, ""), 404, "not_found")
			b.expect(b.callAs(key, "PATCH", at, `{"active":true}`), 404, "not_found")
		}
	})
}

func TestLinksThatAreRefused(t *testing.T) {
	b := quick(t)
	for text, fields := range map[string]string{
		`{}`: "currency title", `{"title":"A","currency":"USD","amount":0}`: "amount", `{"title":"A","currency":"USD","amount":1.5,"methods":"x"}`: "amount methods",
		`{"title":"","currency":"GHS","amount":"5","methods":["cash"],"redirect_url":"javascript:x","usage_limit":0,"expires_at":"2020-01-01T00:00:00Z","description":5}`: "amount currency description expires_at methods redirect_url title usage_limit",
		`{"title":"A","currency":"USD","min_amount":0}`: "min_amount", `{"title":"A","currency":"USD","min_amount":null}`: "min_amount", `{"title":"A","currency":"USD","expires_at":"tomorrow"}`: "expires_at",
		`{"title":null,"currency":"USD","methods":[1]}`: "methods title",
	} {
		a := b.call("POST", "/v1/payment-links", text)
		var got []string
		for _, field := range strings.Fields(fields) {
			if len(a.Body.Errors[field]) == 1 {
				got = append(got, field)
			}
		}
		if a.Status != 422 || strings.Join(got, " ") != fields || len(a.Body.Errors) != len(got) {
			t.Errorf("%s: %d %v, want %s", text, a.Status, a.Body.Errors, fields)
		}
	}
}

func TestMethodsAndRates(t *testing.T) {
	b := quick(t)
	var methods []struct {
		Code               string
		Enabled, Available bool
		Remark             string
	}
	b.into(b.expect(b.call("GET", "/v1/payment-methods", ""), 200, ""), &methods)
	if len(methods) != 5 || !methods[0].Enabled || !methods[0].Available || methods[0].Remark != "-" {
		t.Errorf("%+v", methods)
	}
	b.into(b.expect(b.callAs(b.liveKey, "GET", "/v1/payment-methods", ""), 200, ""), &methods)
	if methods[0].Enabled || methods[0].Available || methods[0].Remark == "-" {
		t.Errorf("%+v", methods)
	}
	for path, n := range map[string]int{"/v1/rates": 20, "/v1/rates?currency=GHC": 5, "/v1/rates?payment_method=crypto_tether": 4, "/v1/rates?currency=USD&payment_method=crypto_tether": 1} {
		var rates []struct {
			Price *string
			Legs  []struct{ Sources []any }
		}
		b.into(b.expect(b.call("GET", path, ""), 200, ""), &rates)
		if len(rates) != n || rates[0].Price == nil || len(rates[0].Legs) == 0 || len(rates[0].Legs[0].Sources) != 3 {
			t.Errorf("%s: %+v", path, rates)
		}
	}
	b.must(b.db.Exec(b.Context()).Create(&models.RatePolicy{BusinessID: b.business.ID, Domain: "test", Currency: "KES", Market: "official", Spread: 150,
		UpdatedBy: "user:1", UpdatedAt: b.clock.Now()}).Error)
	var rates []struct {
		Market, Price string
		MarketPrice   string `json:"market_price"`
		SpreadPercent string `json:"spread_percent"`
	}
	b.into(b.expect(b.call("GET", "/v1/rates?currency=KES&payment_method=crypto_bitcoin", ""), 200, ""), &rates)
	price, market := decimal.RequireFromString(rates[0].Price), decimal.RequireFromString(rates[0].MarketPrice)
	if rates[0].Market != "official" || rates[0].SpreadPercent != "1.5" || !price.Equal(market.Mul(decimal.RequireFromString("0.985"))) {
		t.Errorf("with a spread: %+v", rates)
	}
	b.expect(b.call("GET", "/v1/rates?currency=GHS", ""), 422, "validation_failed")
}

func TestSandbox(t *testing.T) {
	b := quick(t)
	s := b.initiate("business_reference", `"order-1"`)
	b.expect(b.call("POST", "/v1/sandbox/payments/order-1/simulate", `{"scenario":"magic"}`), 422, "validation_failed")
	b.expect(b.call("POST", "/v1/sandbox/payments/order-1/simulate", `{"scenario":null}`), 422, "validation_failed")
	b.expect(b.call("POST", "/v1/sandbox/payments/order-1/simulate", ``), 400, "unreadable_json")
	b.expect(b.call("POST", "/v1/sandbox/payments/PAY_none/simulate", `{"scenario":"exact"}`), 404, "not_found")
	a := b.expect(b.call("POST", "/v1/sandbox/payments/order-1/simulate", `{"scenario":"exact"}`), 200, "")
	if !strings.Contains(a.Raw, `"reference":"`+s.Reference) || !strings.Contains(a.Raw, `"asset":"BTC"`) {
		t.Errorf("%s", a.Raw)
	}
	b.pass(time.Second)
	mined := b.expect(b.call("POST", "/v1/sandbox/mine", `{"payment_method":"crypto_bitcoin","blocks":12}`), 200, "")
	b.pass(time.Second)
	if a := b.call("GET", "/v1/payment/verify/order-1", ""); !strings.Contains(a.Raw, `"status":"successful"`) {
		t.Errorf("%s after %s", a.Raw, mined.Raw)
	}
	for text, fields := range map[string]int{`{}`: 2, `{"payment_method":"BTC","blocks":0}`: 2, `{"payment_method":"crypto_bitcoin","blocks":201}`: 1,
		`{"payment_method":"BTC","blocks":"5"}`: 2, `{"payment_method":5,"blocks":999}`: 2, `{"payment_method":"crypto_bitcoin","blocks":18446744073709551617}`: 1} {
		if a := b.call("POST", "/v1/sandbox/mine", text); a.Status != 422 || len(a.Body.Errors) != fields {
			t.Errorf("%s: %d %v", text, a.Status, a.Body.Errors)
		}
	}
	for _, path := range []string{"payments/order-1/simulate", "advance", "mine"} {
		b.expect(b.callAs(b.liveKey, "POST", "/v1/sandbox/"+path, "{}"), 404, "not_found")
	}
	b.initiate("business_reference", `"order-2"`)
	moved := b.expect(b.call("POST", "/v1/sandbox/advance", `{"reference":"order-2","seconds":421}`), 200, "")
	b.pass(time.Second)
	if a := b.call("GET", "/v1/payment/verify/order-2", ""); !strings.Contains(a.Raw, `"status":"expired"`) {
		t.Errorf("%s after %s", a.Raw, moved.Raw)
	}
	for text, status := range map[string]int{`{"reference":"order-2","seconds":0}`: 422, `{"reference":"order-2","seconds":1e3}`: 422, `{"reference":"a/b","seconds":1}`: 404,
		`{"reference":"none","seconds":1}`: 404, `{"seconds":1}`: 422, `{"reference":"order-2","seconds":9223372036854775807}`: 422} {
		if a := b.call("POST", "/v1/sandbox/advance", text); a.Status != status {
			t.Errorf("%s: %d %s", text, a.Status, a.Raw)
		}
	}
}

// TestEveryEndpointNeedsItsPermission (SD-12): a key with every permission but the one that the document
// names is refused, and one with only that is not.
func TestEveryEndpointNeedsItsPermission(t *testing.T) {
	b := quick(t)
	sc := scope.Scope{BusinessID: b.business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	with, without := map[string]string{}, map[string]string{} // keys by permission
	for _, p := range apikey.ListPermissions() {
		others := slices.DeleteFunc(apikey.ListPermissions(), func(other apikey.Permission) bool { return other == p })
		var err error
		_, with[string(p)], err = b.keys.CreateRestrictedKey(t.Context(), sc, "with", []apikey.Permission{p})
		b.must(err)
		_, without[string(p)], err = b.keys.CreateRestrictedKey(t.Context(), sc, "without", others)
		b.must(err)
	}
	for path, operations := range b.tree()["paths"].(map[string]any) {
		for method, described := range operations.(map[string]any) {
			if path == "/v1/openapi.json" {
				continue
			}
			needed, _ := described.(map[string]any)["x-permission"].(string)
			if path == "/v1/me" {
				for permission, key := range with {
					var me struct {
						Business     struct{ Name, Code string }
						Domain, Name string
						Permissions  []string
					}
					b.into(b.expect(b.callAs(key, "GET", path, ""), 200, ""), &me)
					if me.Business.Code != b.business.Code || me.Business.Name != b.business.Name || me.Domain != "test" ||
						me.Name != "with" || !slices.Equal(me.Permissions, []string{permission}) {
						t.Errorf("a key with %s is told %+v", permission, me)
					}
				}
				continue
			}
			at := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")
			call := func(key string) answer { return b.callAs(key, strings.ToUpper(method), at, "") }
			refused := call(without[needed])
			if with[needed] == "" || refused.Body.Code != "permission_missing" || !strings.Contains(refused.Body.Message, needed) {
				t.Errorf("%s %s without %q: %s, want permission_missing that names it", method, path, needed, refused.Raw)
			}
			if a := call(with[needed]); a.Status == 401 || a.Body.Code == "permission_missing" {
				t.Errorf("%s %s with %s alone: %s, want it admitted", method, path, needed, a.Raw)
			}
		}
	}
}
