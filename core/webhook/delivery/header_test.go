package delivery_test

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
