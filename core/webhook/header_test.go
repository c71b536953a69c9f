package webhook_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/webhook"
	"cointill/models"
)

// TestHeaders sends a merchant's headers, keeps them sealed, and shows their values to nobody.
func TestHeaders(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _, err := b.Create(ctx, owner, webhook.Create{Name: "orders", URL: shop.URL, Active: true,
			Headers: []webhook.Header{{Name: "x-api-key", Value: "s3cret value"}, {Name: "Authorization", Value: "Bearer t0ken"}}})
		if err != nil || fmt.Sprint(e.Headers) != "[{X-Api-Key ••••} {Authorization ••••}]" {
			t.Fatalf("e = %v, err = %v", e, err)
		}
		b.emit(1)
		b.step()
		got := shop.requests()[0].header
		if got.Get("X-Api-Key") != "s3cret value" || got.Get("Authorization") != "Bearer t0ken" || got.Get("webhook-id") == "" {
			t.Errorf("%v", got)
		}
		var row models.Endpoint
		if err := b.DB.Read(ctx).Take(&row).Error; err != nil || len(row.Headers) == 0 || bytes.Contains(row.Headers, []byte("s3cret")) || bytes.Contains(row.Headers, []byte("Api")) {
			t.Errorf("stored as %q, %v", row.Headers, err)
		}
		attempts := b.attempts(e.ID)
		if len(attempts) != 1 || !strings.Contains(attempts[0].Request, "X-Api-Key: ••••\n") || strings.Contains(attempts[0].Request, "s3cret") ||
			strings.Contains(attempts[0].Request, "t0ken") {
			t.Errorf("%+v", attempts)
		}
		kept := []webhook.Header{{Name: "X-API-KEY", Value: webhook.Mask}, {Name: "X-Other", Value: "o"}}
		if e, err = b.Update(ctx, owner, e.ID, webhook.Change{Headers: &kept}); err != nil || fmt.Sprint(e.Headers) != "[{X-Api-Key ••••} {X-Other ••••}]" {
			t.Fatalf("b.Update(ctx, owner, e.ID, webhook.Change{Headers: &kept}): e = %v, err = %v", e, err)
		}
		b.emit(2)
		b.step()
		got = shop.requests()[1].header
		if got.Get("X-Api-Key") != "s3cret value" || got.Get("X-Other") != "o" || got.Get("Authorization") != "" {
			t.Errorf("after the change: %v", got)
		}
		name := "renamed"
		if e, err = b.Update(ctx, owner, e.ID, webhook.Change{Name: &name}); err != nil || len(e.Headers) != 2 {
			t.Errorf("another change touched them: %+v %v", e, err)
		}
		lost := []webhook.Header{{Name: "X-New", Value: webhook.Mask}}
		var f *fault.Fault
		if _, err = b.Update(ctx, owner, e.ID, webhook.Change{Headers: &lost}); !errors.As(err, &f) || len(f.Fields["headers.X-New"]) != 1 {
			t.Errorf("a value that isn't there is kept: %v", err)
		}
	})
}

// TestHeadersStay: no value that nobody may read goes along to another server.
func TestHeadersStay(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e, _, err := b.Create(ctx, owner, webhook.Create{Name: "orders", URL: "https://shop.example/hook", Active: true,
			Headers: []webhook.Header{{Name: "X-Key", Value: "s3cret value"}}})
		if err != nil {
			t.Fatal(err)
		}
		kept, fresh := []webhook.Header{{Name: "X-Key", Value: webhook.Mask}}, []webhook.Header{{Name: "X-Key", Value: "another"}}
		for _, there := range []string{"https://thief.example/hook", "https://shop.example.thief.example/hook", "https://shop.example:8443/hook", "http://shop.example/hook"} {
			for name, headers := range map[string]*[]webhook.Header{"unnamed": nil, "masked": &kept} {
				var f *fault.Fault
				if _, err := b.Update(ctx, owner, e.ID, webhook.Change{URL: &there, Headers: headers}); !errors.As(err, &f) || len(f.Fields["headers"]) != 1 {
					t.Errorf("%s to %s: %v", name, there, err)
				}
			}
		}
		for _, there := range []string{"https://shop.example/other?a=b", "https://SHOP.example:443/hook"} {
			if _, err := b.Update(ctx, owner, e.ID, webhook.Change{URL: &there, Headers: &kept}); err != nil {
				t.Errorf("to %s: %v", there, err)
			}
		}
		there, none := "https://new.example/hook", []webhook.Header{}
		if _, err := b.Update(ctx, owner, e.ID, webhook.Change{URL: &there, Headers: &fresh}); err != nil {
			t.Error("with a new value:", err)
		}
		there = "https://newer.example/hook"
		if _, err := b.Update(ctx, owner, e.ID, webhook.Change{URL: &there, Headers: &none}); err != nil {
			t.Error("without headers:", err)
		}
	})
}

// TestEchoIsVeiled has receivers that repeat what they were sent, in several forms.
func TestEchoIsVeiled(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		say := func(string) string { return "" }
		echo := newMerchant(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Seen", r.Header.Get("X-Key"))
			_, _ = w.Write([]byte(say(r.Header.Get("X-Key"))))
		})
		const key = `Bearer SECRET/"TOKEN<12345`
		for i, c := range []struct {
			say  func(string) string
			want string
		}{
			{func(v string) string { return "key " + v + ", mode fast" }, "key ••••, mode fast"},
			{func(v string) string { return "no token " + strings.Fields(v)[1] }, "no token ••••"},
			{strconv.Quote, `"••••"`},
			{html.EscapeString, "••••"},
			{func(v string) string { return strings.ReplaceAll(strconv.Quote(v), "/", `\/`) }, `"••••"`},
			{url.QueryEscape, "••••"},
			{func(v string) string {
				return strings.NewReplacer("%2F", "%2f", "%3C", "%3c").Replace(url.QueryEscape(v))
			}, "••••"},
			{func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }, "••••"},
			{func(v string) string { return strings.Repeat("x", 4096-12) + v }, strings.Repeat("x", 4096-12) + "••••"},
			{func(v string) string { return "mode fast" }, "mode fast"},
		} {
			say = c.say
			e, _, err := b.Create(t.Context(), owner, webhook.Create{Name: "orders", URL: echo.URL, Active: true,
				Headers: []webhook.Header{{Name: "X-Key", Value: key}, {Name: "X-Mode", Value: "fast"}}})
			if err != nil {
				t.Fatal(err)
			}
			b.emit(i + 1)
			b.step()
			a := b.attempts(e.ID)[0]
			if a.Answer != c.want || !strings.Contains(a.Header, "X-Seen: ••••\n") {
				t.Errorf("%d: %q %q", i, a.Answer, a.Header)
			}
			b.must(b.Delete(t.Context(), owner, e.ID))
		}
	})
}

func TestHeaderRules(t *testing.T) {
	t.Parallel()
	many := make([]webhook.Header, 11)
	long := make([]webhook.Header, 7)
	for i := range many {
		many[i] = webhook.Header{Name: fmt.Sprint("X-", i), Value: "v"}
	}
	for i := range long {
		long[i] = webhook.Header{Name: fmt.Sprint("X-", i), Value: strings.Repeat("v", 512)}
	}
	one := func(name, value string) []webhook.Header { return []webhook.Header{{Name: name, Value: value}} }
	for _, good := range [][]webhook.Header{nil, many[:10], long[:5], one("X-Key", "a b"), one("x!#$%&'*+-.^_`|~9", "~ !"), one(strings.Repeat("x", 64), "v"),
		one("Authorization", "Bearer x"), one("X-Webhooks", "v"), one("Accept", "v"), one("X-Content", "v")} {
		if f := (webhook.Change{Headers: &good}).Check("test"); len(f) != 0 {
			t.Errorf("%v: %v", good, f)
		}
	}
	bad := map[string][]webhook.Header{"headers": many, "headers ": long, "headers.X-0": one("X-0", ""), "headers.X-1": one("X-1", "a\r\nb: c"), "headers.X-2": one("X-2", "é"),
		"headers.X-3": one("X-3", " v"), "headers.X-4": one("X-4", strings.Repeat("v", 513)), "headers.X-5": one("X-5", "a\x00"), "headers.X-6": one("X-6", "a\x7f"),
		"headers.x-7": {{Name: "X-7", Value: "v"}, {Name: "x-7", Value: "v"}}}
	for i, name := range []string{"", "X A", "X:A", "X\n", "é", strings.Repeat("x", 65), "X\x00", "(x)"} {
		bad["headers"+strings.Repeat(" ", i+2)] = one(name, "v")
	}
	for _, name := range []string{"Connection", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Host", "HOST",
		"Content-Type", "content-length", "Content-Encoding", "webhook-id", "Webhook-Signature", "webhook_timestamp", "Cookie", "Set-Cookie", "User-Agent",
		"X-Forwarded-For", "Forwarded", "Expect", "Accept-Encoding", "X-HTTP-Method-Override", "Idempotency-Key", "If-Match", "Sec-Fetch-Site", "Via", "Date"} {
		bad["headers."+name] = one(name, "v")
	}
	for field, headers := range bad {
		f := (webhook.Change{Headers: &headers}).Check("test")
		if len(f) != 1 || len(f[strings.TrimSpace(field)]) != 1 {
			t.Errorf("%s: %v", field, f)
		}
	}
}

// TestTypes queues an event for those that take its type, and a test event for its own endpoint whatever it takes.
func TestTypes(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		all, some, none := newMerchant(t, nil), newMerchant(t, nil), newMerchant(t, nil)
		b.create(owner, all.URL)
		make := func(url string, types ...string) webhook.Endpoint {
			e, _, err := b.Create(ctx, owner, webhook.Create{Name: "orders", URL: url, Active: true, Types: types})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		make(some.URL, webhook.PaymentDeclined, webhook.PaymentSuccessful)
		other := make(none.URL, webhook.PaymentDeclined)
		id := b.emit(1) // payment.successful
		test, err := b.deliveries.SendTest(ctx, owner, other.ID)
		if err != nil {
			t.Fatal(err)
		}
		b.step()
		if a, s, n := len(all.requests()), len(some.requests()), len(none.requests()); a != 1 || s != 1 || n != 1 {
			t.Errorf("%d %d %d requests", a, s, n)
		}
		if n, err := b.deliveries.Redeliver(ctx, owner, id, ""); n != 2 || err != nil {
			t.Errorf(`b.deliveries.Redeliver(ctx, owner, id, ""): n = %v, err = %v`, n, err)
		}
		if n, err := b.deliveries.Redeliver(ctx, owner, id, other.ID); n != 1 || err != nil { // named, it gets what it doesn't take
			t.Errorf("b.deliveries.Redeliver(ctx, owner, id, other.ID): n = %v, err = %v", n, err)
		}
		if n, err := b.deliveries.Redeliver(ctx, owner, test, ""); n != 1 || err != nil {
			t.Error("of the test event:", n, err)
		}
		nothing := []string{}
		if e, err := b.Update(ctx, owner, other.ID, webhook.Change{Types: &nothing}); err != nil || len(e.Types) != 0 {
			t.Errorf("b.Update(ctx, owner, other.ID, webhook.Change{Types: &nothing}): e = %v, err = %v", e, err)
		}
		b.emit(2)
		b.step()
		if n := len(none.requests()); n != 4 {
			t.Errorf("%d requests to the one that takes all by now", n)
		}
	})
}
