package webhook_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// tampering is one way in which a delivery isn't what was sent.
type tampering struct {
	name string
	do   func(r *received)
}

// tamperings are those of one request. other is a genuine one of another webhook.
func tamperings(other received) []tampering {
	header := func(name string, change func(string) string) func(*received) {
		return func(r *received) { r.header.Set(name, change(r.header.Get(name))) }
	}
	body := func(change func(string) string) func(*received) { return func(r *received) { r.body = change(r.body) } }
	to := func(text string) func(string) string { return func(string) string { return text } }
	const id, stamp, signature = "webhook-id", "webhook-timestamp", "webhook-signature"
	return []tampering{
		{"a byte of the body", body(func(s string) string { return strings.Replace(s, "PAY_1", "PAY_2", 1) })},
		{"a sequence that is higher", body(func(s string) string { return strings.Replace(s, `"sequence":3`, `"sequence":9`, 1) })},
		{"a body with a line break at its end", body(func(s string) string { return s + "\n" })},
		{"a body with a byte order mark", body(func(s string) string { return "\ufeff" + s })},
		{"a body that was parsed and written again", body(func(s string) string { return strings.ReplaceAll(s, ":", ": ") })},
		{"a body that was cut", body(func(s string) string { return s[:len(s)-1] })},
		{"no body", body(to(""))},
		{"the body of another event", body(to(other.body))},
		{"another id", header(id, to(other.header.Get(id)))},
		{"a byte of the id", header(id, func(s string) string { return s + "0" })},
		{"no id", func(r *received) { r.header.Del(id) }},
		{"a later timestamp", header(stamp, func(s string) string {
			n, _ := strconv.ParseInt(s, 10, 64)
			return strconv.FormatInt(n+1, 10)
		})},
		{"a timestamp that is no number", header(stamp, func(s string) string { return s + "s" })},
		{"no timestamp", func(r *received) { r.header.Del(stamp) }},
		{"the signature of another webhook", header(signature, to(other.header.Get(signature)))},
		{"a byte of the signature", header(signature, func(s string) string {
			if s[3] == 'A' {
				return "v1,B" + s[4:]
			}
			return "v1,A" + s[4:]
		})},
		{"a signature that was cut", header(signature, func(s string) string { return s[:len(s)-4] })},
		{"a signature in hexadecimal", header(signature, func(s string) string {
			plain, _ := base64.StdEncoding.DecodeString(s[3:])
			return "v1," + hex.EncodeToString(plain)
		})},
		{"another version", header(signature, func(s string) string { return "v2" + s[2:] })},
		{"a signature without its version", header(signature, func(s string) string { return s[3:] })},
		{"an empty signature", header(signature, to("v1,"))},
		{"no signature", func(r *received) { r.header.Del(signature) }},
	}
}

// TestTamperings has the public library look at what a merchant got, as it came
// and in each way in which somebody could have changed it.
func TestTamperings(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop, elsewhere := newMerchant(t, nil), newMerchant(t, nil)
		_, plain := b.create(owner, shop.URL)
		b.create(owner, elsewhere.URL)
		verifier, err := standardwebhooks.NewWebhook(plain)
		if err != nil {
			t.Fatal(err)
		}
		// The library compares with the machine's clock: one is old, one from the future.
		for sequence, away := range []time.Duration{-6 * time.Minute, 6 * time.Minute, 0} {
			b.clock.Advance(time.Since(b.clock.Now()) + away)
			b.emit(sequence)
			b.step()
			got := shop.requests()[sequence]
			if err := verifier.Verify([]byte(got.body), got.header); (err == nil) != (away == 0) {
				t.Errorf("%v away: %v", away, err)
			}
			if err := verifier.VerifyIgnoringTimestamp([]byte(got.body), got.header); err != nil {
				t.Error(err)
			}
		}
		b.emit(3)
		b.step()
		genuine, other := shop.requests()[3], elsewhere.requests()[2]
		list := tamperings(other)
		if len(list) < 20 {
			t.Errorf("only %d tamperings", len(list))
		}
		for _, one := range list {
			r := received{header: genuine.header.Clone(), body: genuine.body}
			one.do(&r)
			if sameRequest(r, genuine) {
				t.Errorf("%s changes nothing", one.name)
			}
			if verifier.Verify([]byte(r.body), r.header) == nil {
				t.Errorf("%s verifies", one.name)
			}
		}
		if err := verifier.Verify([]byte(genuine.body), genuine.header); err != nil {
			t.Error(err)
		}
	})
}

func sameRequest(a, b received) bool {
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if strings.Join(a.header.Values(name), "\n") != strings.Join(b.header.Values(http.CanonicalHeaderKey(name)), "\n") {
			return false
		}
	}
	return a.body == b.body
}
