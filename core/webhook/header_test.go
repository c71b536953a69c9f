package webhook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
)

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

// TestDottedNames: what servers read as a header of ours is taken, however it is written.
func TestDottedNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"X.Forwarded.For", "webhook.signature", "Content~Type"} {
		headers := []webhook.Header{{Name: name, Value: "v"}}
		if f := (webhook.Change{Headers: &headers}).Check(scope.Test); len(f) != 1 {
			t.Errorf("%s: %v", name, f)
		}
	}
}
