package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

func TestInitiateAndVerify(t *testing.T) {
	each(t, func(b *bench) {
		for _, coin := range money.Coins() {
			for _, currency := range money.Currencies() {
				reference := fmt.Sprintf("order~%s:%s@1", coin.Coin, currency)
				s := b.initiate("currency", fmt.Sprintf("%q", currency), "payment_method", fmt.Sprintf("%q", coin.Method), "amount", "7",
					"business_reference", fmt.Sprintf("%q", reference))
				if s.Amount != 7 || s.Currency != string(currency) || s.BusinessReference != reference || !strings.HasPrefix(s.Reference, "PAY_") ||
					s.PaymentURL != base+"/pay/"+s.AccessToken || s.ExpiresAt != "2026-03-01T12:07:00.000000Z" {
					t.Errorf("%+v", s)
				}
				byOurs, byTheirs := b.call("GET", "/v1/payment/verify/"+s.Reference, ""), b.call("GET", "/v1/payment/verify/"+url.PathEscape(reference), "")
				b.expect(byOurs, 200, "")
				if string(byOurs.Body.Data) != string(byTheirs.Body.Data) {
					t.Errorf("the two references give %s and %s", byOurs.Raw, byTheirs.Raw)
				}
				if strings.Contains(byOurs.Raw, s.AccessToken) {
					t.Error("verification shows the access token")
				}
			}
		}
	})
}

func TestVerificationHasEveryField(t *testing.T) {
	b := quick(t)
	s := b.initiate("metadata", `{"z":1.50,"a":[1e3,{"é":"<&>"}],"big":123456789012345678901234567890}`)
	a := b.call("GET", "/v1/payment/verify/"+s.Reference, "")
	var data map[string]any
	b.into(a, &data)
	for _, want := range []string{"domain", "reference", "authorization_code", "status", "remark", "reason", "business", "customer", "transaction", "created_at",
		"business_reference", "expires_at", "transfers", "rate"} {
		if _, there := data[want]; !there {
			t.Errorf("%s is missing in %s", want, a.Raw)
		}
	}
	if !strings.Contains(a.Raw, `"metadata":{"z":1.50,"a":[1e3,{"é":"<&>"}],"big":123456789012345678901234567890}`) {
		t.Errorf("metadata is not as given: %s", a.Raw)
	}
	if data["status"] != "pending" || data["remark"] != "-" || data["created_at"] != "2026-03-01T12:00:00.000000Z" {
		t.Errorf("%s", a.Raw)
	}
	paid := data["transaction"].(map[string]any)
	if paid["amount_paid"] != "0.00" || paid["amount_paid_in_crypto"] != "0.00000000" || paid["crypto_transaction_hash"] != "" || paid["charged_amount"] != "25000.00" {
		t.Errorf("%v", paid)
	}
	if bare := b.initiate(); !strings.Contains(b.call("GET", "/v1/payment/verify/"+bare.Reference, "").Raw, `"metadata":null`) {
		t.Error("no metadata is not null")
	}
}

func TestEveryFieldAtOnce(t *testing.T) {
	b := quick(t)
	all := []string{"amount", "business_reference", "currency", "email", "first_name", "last_name", "metadata", "payment_method", "redirect_url"}
	for name, body := range map[string]string{
		"values": `{"currency":"GHS","amount":0,"first_name":"A-B","last_name":"","email":"a@b","payment_method":"cash","business_reference":"PAY_x","metadata":` +
			strings.Repeat("[", 17) + strings.Repeat("]", 17) + `,"redirect_url":"http://shop.example/thanks"}`,
		"types": `{"currency":1,"amount":"5","first_name":null,"last_name":[],"email":{},"payment_method":true,"business_reference":7,"metadata":"x","redirect_url":{}}`,
		"mixed": `{"currency":"GHS","amount":1.0,"first_name":"A B","last_name":false,"email":"","business_reference":"","metadata":null,"redirect_url":"javascript:alert(1)"}`,
	} {
		a := b.expect(b.call("POST", "/v1/payment/initiate", body), 422, "validation_failed")
		var got []string
		for field, sentences := range a.Body.Errors {
			got = append(got, field)
			if len(sentences) != 1 || sentences[0] == "" {
				t.Errorf("%s: %s has %q", name, field, sentences)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Errorf("%s: %v, want %v", name, got, all)
		}
	}
	for _, reference := range []string{`"."`, `".."`} { // no client can ask for those again
		b.expect(b.call("POST", "/v1/payment/initiate", body("business_reference", reference)), 422, "validation_failed")
	}
	for _, redirect := range []string{"shop.example", "https://u:p@shop.example/", "https://shop.example/\u202e",
		"https://shop.example:0/", "https://" + strings.Repeat("a", 2041), "http://localhost.example/"} {
		a := b.expect(b.call("POST", "/v1/payment/initiate", body("redirect_url", `"`+redirect+`"`)), 422, "validation_failed")
		if len(a.Body.Errors["redirect_url"]) != 1 {
			t.Errorf("redirect_url %q: %v", redirect, a.Body.Errors)
		}
	}
	a := b.call("POST", "/v1/payment/initiate", `{"currency":"GHS"}`)
	if !strings.Contains(a.Body.Errors["currency"][0], "GHC") || a.Body.Errors["amount"][0] != "Is required." {
		t.Errorf("%v", a.Body.Errors)
	}
	var stored int64
	b.must(b.db.Read(t.Context()).Model(&models.Payment{}).Count(&stored).Error)
	if stored != 0 {
		t.Errorf("%d payments were stored for refused requests", stored)
	}
}

// TestUnknownFieldsChangeNothing (AP-14): a request sets what it may, under exact names,
// and nothing else.
func TestUnknownFieldsChangeNothing(t *testing.T) {
	b := quick(t)
	s := b.initiate("status", `"successful"`, "domain", `"live"`, "business", `{"code":"BUS_x"}`, "AMOUNT", "1", "reference", `"PAY_mine"`)
	a := b.call("GET", "/v1/payment/verify/"+s.Reference, "")
	if s.Amount != 25000 || s.Reference == "PAY_mine" || !strings.Contains(a.Raw, `"status":"pending"`) || !strings.Contains(a.Raw, `"domain":"test"`) {
		t.Errorf("%+v %s", s, a.Raw)
	}
	refused := b.call("POST", "/v1/payment/initiate", body("amount", "", "AMOUNT", "5", "Amount", "6"))
	b.expect(refused, 422, "validation_failed")
}

// TestUnknownFieldsAreNamed: a field that the request doesn't have is named in a warning of the
// answer, with the field that was probably meant; at most ten, and none at full length. The
// answer that is replayed has them, too.
func TestUnknownFieldsAreNamed(t *testing.T) {
	b := quick(t)
	a := b.expect(b.call("POST", "/v1/payment/initiate", body("metdata", "{}", "colour", "1"), "Idempotency-Key", "k"), 201, "")
	want := []string{"colour is not a field of this request.", "metdata is not a field of this request; did you mean metadata?"}
	if !slices.Equal(a.Body.Warnings, want) {
		t.Errorf("warnings %q, want %q", a.Body.Warnings, want)
	}
	if again := b.call("POST", "/v1/payment/initiate", body("metdata", "{}", "colour", "1"), "Idempotency-Key", "k"); again.Raw != a.Raw {
		t.Errorf("replayed %s, want %s", again.Raw, a.Raw)
	}
	if a := b.expect(b.call("POST", "/v1/payment/initiate", body()), 201, ""); strings.Contains(a.Raw, "warnings") {
		t.Errorf("%s, want no warnings where there are none", a.Raw)
	}
	long := strings.Repeat("é", 65)
	many := []string{long, "1"}
	for i := range 20 {
		many = append(many, fmt.Sprintf("z%d", i), "1")
	}
	a = b.expect(b.call("POST", "/v1/payment/initiate", body(many...)), 201, "")
	if len(a.Body.Warnings) != 10 || strings.Contains(a.Raw, long) {
		t.Errorf("%d warnings: %s, want 10, and the longest name cut", len(a.Body.Warnings), a.Raw)
	}
}

// TestAmountsThatNoNetworkCarries: the smallest amount that /v1/payment-methods gives is carried,
// and one unit less is accepted with a warning that names the limit; its page gets no address.
func TestAmountsThatNoNetworkCarries(t *testing.T) {
	each(t, func(b *bench) {
		var methods []struct {
			Code    string
			Minimum map[string]*string
		}
		b.into(b.expect(b.call("GET", "/v1/payment-methods", ""), 200, ""), &methods)
		limits := map[string]string{"crypto_bitcoin": "0.00000546 BTC", "crypto_dogecoin": "0.01000000 DOGE"}
		for _, m := range methods {
			for currency, text := range m.Minimum {
				if text == nil {
					b.Fatalf("%s has no minimum in %s, want one", m.Code, currency)
				}
				least, err := strconv.ParseInt(strings.TrimSuffix(*text, ".00"), 10, 64)
				if err != nil || least < 1 || limits[m.Code] == "" && least != 1 {
					b.Errorf("the minimum of %s in %s is %s, want a whole amount, 1 without a limit", m.Code, currency, *text)
				}
				for amount := max(1, least-1); amount <= least; amount++ {
					a := b.expect(b.call("POST", "/v1/payment/initiate", body("payment_method", strconv.Quote(m.Code),
						"currency", strconv.Quote(currency), "amount", strconv.FormatInt(amount, 10))), 201, "")
					if warned := len(a.Body.Warnings) == 1 && strings.Contains(a.Body.Warnings[0], "("+limits[m.Code]+")"); warned != (amount < least) {
						b.Errorf("%d %s by %s, of at least %s: warnings %q", amount, currency, m.Code, *text, a.Body.Warnings)
					}
				}
			}
		}
		small := b.initiate("currency", `"NGN"`, "amount", "1")
		b.expect(b.call("POST", "/v1/sandbox/payments/"+small.Reference+"/simulate", `{"scenario":"exact"}`), 409, "amount_too_small")
		view, err := b.payments.Verify(b.Context(), scope.Scope{BusinessID: b.business.ID, Domain: scope.Test, Role: scope.System}, small.Reference)
		if err != nil || view.State() != payment.Pending || view.Payment.Address != "" {
			b.Errorf("it is %s with the address %q, %v, want pending without one", view.State(), view.Payment.Address, err)
		}
		b.pass(payment.Window + time.Second)
		if a := b.call("GET", "/v1/payment/verify/"+small.Reference, ""); !strings.Contains(a.Raw, `"status":"expired"`) {
			b.Errorf("after the window: %s, want expired", a.Raw)
		}
		b.market.shut = true
		b.into(b.expect(b.call("GET", "/v1/payment-methods", ""), 200, ""), &methods)
		if methods[0].Minimum["NGN"] != nil || methods[1].Minimum["NGN"] == nil {
			b.Errorf("without prices the minima are %+v, want none of bitcoin, and one of ether", methods)
		}
	})
}

// TestReferencesInPaths (AP-3, AP-21): a reference is found under each spelling that
// means it, and nothing under what only looks like one.
func TestReferencesInPaths(t *testing.T) {
	b := quick(t)
	b.initiate("business_reference", `"a+b@c~1"`)
	for path, status := range map[string]int{
		"a+b@c~1": 200, "a%2Bb%40c~1": 200, "a%2bb%40c%7E1": 200,
		"a%20b@c~1": 404, "a+b@c~1%00": 404, "a%2Fb": 404, "%2e%2e": 404, "..%2f..": 404, "%ff": 404, "A+b@c~1": 404,
		strings.Repeat("a", 101): 404, "PAY_": 404, "PAY_x": 404, "%27%20OR%201=1": 404, "%50AY_x": 404, "a/b": 404, "": 404, "a+b@c~1/": 404,
	} {
		r := b.app
		_ = r
		a := b.call("GET", "/v1/payment/verify/"+path, "")
		if a.Status != status {
			t.Errorf("%q: %d, want %d: %s", path, a.Status, status, a.Raw)
		}
	}
}

// TestNothingCrosses (AP-1, AP-2): a key of another business, or of the other domain,
// finds nothing.
func TestNothingCrosses(t *testing.T) {
	each(t, func(b *bench) {
		s := b.initiate("business_reference", `"order-1"`)
		_, other, _ := b.merchant("Abena Fabrics", "abena@fabrics.example")
		for _, key := range []string{other, b.liveKey} {
			for _, path := range []string{"/v1/payment/verify/" + s.Reference, "/v1/payment/verify/order-1", "/v1/payments/" + s.Reference + "/timeline"} {
				b.expect(b.callAs(key, "GET", path, ""), 404, "not_found")
			}
			if a := b.callAs(key, "GET", "/v1/payments", ""); string(a.Body.Data) != "[]" {
				t.Errorf("another key sees %s", a.Raw)
			}
			b.expect(b.callAs(key, "POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"exact"}`), 404, "not_found")
			b.expect(b.callAs(key, "POST", "/v1/sandbox/advance", `{"reference":"order-1","seconds":5}`), 404, "not_found")
		}
		b.into(b.expect(b.callAs(other, "POST", "/v1/payment/initiate", body("business_reference", `"order-1"`)), 201, ""), &s)
		b.expect(b.callAs(b.liveKey, "POST", "/v1/payment/initiate", body()), 403, "payment_method_not_enabled")
		b.expect(b.callAs(b.liveKey, "POST", "/v1/sandbox/mine", `{"payment_method":"crypto_bitcoin","blocks":1}`), 404, "not_found")
	})
}

// TestDuplicateReference (AP-17): a reference that is taken is a conflict, which names
// the field.
func TestDuplicateReference(t *testing.T) {
	each(t, func(b *bench) {
		var group sync.WaitGroup
		answers := make([]answer, 60)
		for i := range answers {
			group.Go(func() { answers[i] = b.call("POST", "/v1/payment/initiate", body("business_reference", `"order-7"`)) })
		}
		group.Wait()
		made := 0
		for _, a := range answers {
			if a.Status == 201 {
				made++
			} else if a.Status != 409 || a.Body.Code != "duplicate_business_reference" || len(a.Body.Errors["business_reference"]) != 1 {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		if made != 1 {
			t.Errorf("%d payments were made", made)
		}
	})
}

func TestUnavailable(t *testing.T) {
	b := quick(t)
	b.market.shut = true
	a := b.expect(b.call("POST", "/v1/payment/initiate", body()), 503, "rate_unavailable")
	if a.Header.Get("Retry-After") == "" {
		t.Error("a 503 that doesn't say when to retry")
	}
	rates := b.expect(b.call("GET", "/v1/rates?currency=USD&payment_method=crypto_ripple", ""), 200, "")
	if !strings.Contains(rates.Raw, `"available":false`) || !strings.Contains(rates.Raw, `"price":null`) {
		t.Errorf("%s", rates.Raw)
	}
}

func TestListPages(t *testing.T) {
	each(t, func(b *bench) {
		var want []string
		for i := range 7 {
			currency := `"NGN"`
			if i%2 == 1 {
				currency = `"KES"`
			}
			want = append(want, b.initiate("currency", currency, "business_reference", fmt.Sprintf(`"order_%d"`, i)).Reference)
			b.clock.Advance(time.Minute)
		}
		slices.Reverse(want)
		var got []string
		path, pages := "/v1/payments?limit=3", 0
		for cursor := ""; ; pages++ {
			a := b.expect(b.call("GET", path+cursor, ""), 200, "")
			var items []struct{ Reference string }
			b.into(a, &items)
			for _, item := range items {
				got = append(got, item.Reference)
			}
			if a.Body.Meta.HasMore != (a.Body.Meta.NextCursor != nil) {
				t.Errorf("%s", a.Raw)
			}
			if !a.Body.Meta.HasMore {
				break
			}
			cursor = "&cursor=" + *a.Body.Meta.NextCursor
			_, other, _ := b.merchant(fmt.Sprintf("Other %d", pages), fmt.Sprintf("o%d@example.com", pages))
			b.expect(b.callAs(other, "GET", path+cursor, ""), 422, "validation_failed")
		}
		if !slices.Equal(got, want) || pages != 2 {
			t.Errorf("%d pages gave %v, want %v", pages+1, got, want)
		}
		for query, n := range map[string]int{
			"currency=KES": 3, "status=pending": 7, "status=successful": 0, "payment_method=crypto_ripple": 0, "reference=order_": 7,
			"reference=order%5F3": 1, "reference=" + want[0]: 1, "reference=PAY_": 7, "reference=%25": 0, "email=ADA@example.com": 7, "email=x@example.com": 0,
			"hash=zz": 0, "address=zz": 0, "network=bitcoin": 7, "network=celo": 0,
			"from=2026-03-01T12:02:00Z": 5, "to=2026-03-01T12:02:00Z": 2, "from=2026-03-02": 0,
			"to=2026-03-02":                          7,
			"currency=KES&from=2026-03-01T12:02:00Z": 2, "status=": 7,
		} {
			a := b.expect(b.call("GET", "/v1/payments?limit=100&"+query, ""), 200, "")
			var items []json.RawMessage
			b.into(a, &items)
			if len(items) != n {
				t.Errorf("%s found %d, want %d", query, len(items), n)
			}
		}
	})
}

// TestQueriesThatAreRefused (AP-20): lists take only values that they know, and name the
// one that they don't.
func TestQueriesThatAreRefused(t *testing.T) {
	b := quick(t)
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "limit=1.0": "limit", "limit=x": "limit", "limit=%2B5": "limit", "limit=99999999999999999999": "limit",
		"cursor=x": "cursor", "cursor=MTIz": "cursor", "status=Pending": "status", "currency=GHS": "currency",
		"payment_method=BTC": "payment_method", "network=moon": "network",
		"from=yesterday": "from", "to=2026-13-01": "to", "from=0001-01-01": "from", "email=%00": "email", "hash=%ff": "hash", "address=" + strings.Repeat("a", 501): "address",
		"status=pending&status=failed": "status", "booked_from=March": "booked_from", "booked_to=2026-02-30": "booked_to", "booked_from=2026-03-02&booked_to=2026-03-01": "booked_to", "reference=%ed%a0%80": "reference",
	} {
		a := b.call("GET", "/v1/payments?"+query, "")
		if a.Status != 422 || len(a.Body.Errors[field]) == 0 {
			t.Errorf("%s: %d %s", query, a.Status, a.Raw)
		}
	}
	a := b.call("GET", "/v1/payments?limit=0&status=x&from=y&cursor=z", "")
	if len(a.Body.Errors) != 4 {
		t.Errorf("not all at once: %s", a.Raw)
	}
}

func TestTimeline(t *testing.T) {
	b := quick(t)
	s := b.initiate()
	b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"exact"}`), 200, "")
	b.pass(40 * time.Second)
	a := b.expect(b.call("GET", "/v1/payments/"+s.Reference+"/timeline", ""), 200, "")
	var steps []struct {
		Number                    int
		Kind, From, To, Actor, At string
		Detail                    map[string]any
	}
	b.into(a, &steps)
	var path []string
	for i, step := range steps {
		if step.Number != i+1 || strings.ContainsAny(step.Actor, ":0123456789") {
			t.Errorf("%+v", step)
		}
		if step.Kind == "state" {
			path = append(path, step.To)
		}
	}
	if got := strings.Join(path, " "); got != "pending initiated processing successful" {
		t.Errorf("%s: %s", got, a.Raw)
	}
	verified := b.call("GET", "/v1/payment/verify/"+s.Reference, "")
	if !strings.Contains(verified.Raw, `"status":"successful"`) || !strings.Contains(verified.Raw, `"amount_paid":"25000.00"`) {
		t.Errorf("%s", verified.Raw)
	}
}
