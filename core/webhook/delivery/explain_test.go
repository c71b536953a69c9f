package delivery_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
)

const sentBody = `{"id":"evt_1","type":"payment.successful","data":{"name":"Adé & Söhne","amount":5000,"note":"a/b"}}`

// secretOf makes a signing secret of 32 equal bytes.
func secretOf(b byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), 32)))
}

// mac signs a text with a key.
func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signed is the header over a content by a secret.
func signed(secret, text string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, text))
}

// TestExplain knows each reason why a signature doesn't verify.
func TestExplain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	past, soon := now.Add(-time.Hour), now.Add(time.Hour)
	mine, former, along, other := secretOf('a'), secretOf('b'), secretOf('c'), secretOf('d')
	stamp := fmt.Sprint(now.Unix())
	right := webhook.Pasted{ID: "evt_1", Timestamp: stamp, Signature: signed(mine, "evt_1."+stamp+"."+sentBody), Body: sentBody}
	raw := mac([]byte(strings.Repeat("a", 32)), "evt_1."+stamp+"."+sentBody)
	at := func(when time.Time) webhook.Pasted {
		p := right
		p.Timestamp = fmt.Sprint(when.Unix())
		p.Signature = signed(mine, "evt_1."+p.Timestamp+"."+sentBody)
		return p
	}
	with := func(change func(p *webhook.Pasted)) webhook.Pasted {
		p := right
		change(&p)
		return p
	}
	body := func(text string) webhook.Pasted { return with(func(p *webhook.Pasted) { p.Body = text }) }
	signature := func(text string) webhook.Pasted { return with(func(p *webhook.Pasted) { p.Signature = text }) }
	pretty := strings.ReplaceAll(strings.ReplaceAll(sentBody, ",", ",\n  "), ":", ": ")
	cases := []struct {
		name   string
		p      webhook.Pasted
		reason string
		says   string // in Why or Do
	}{
		{"right", right, webhook.Verifies, "secret, timestamp and body fit"},
		{"two signatures", signature(signed(other, "x") + " " + right.Signature), webhook.Verifies, ""},
		{"with another version beside it", signature("v1a,abc " + right.Signature), webhook.Verifies, ""},
		{"with the headers' names", webhook.Pasted{ID: "webhook-id: evt_1", Timestamp: "Webhook-Timestamp: " + stamp, Signature: "Webhook-Signature: " + right.Signature, Body: sentBody},
			webhook.Verifies, ""},
		{"by the secret that signs along", signature(signed(along, "evt_1."+stamp+"."+sentBody)), webhook.Verifies, "signs along until 1 March 2026, 13:00 UTC"},
		{"no id", with(func(p *webhook.Pasted) { p.ID = " " }), webhook.MissingHeader, "webhook-id is missing"},
		{"no header", webhook.Pasted{Body: sentBody}, webhook.MissingHeader, "webhook-id and webhook-timestamp and webhook-signature are missing"},
		{"a secret", signature(mine), webhook.SecretPasted, "not a signature"},
		{"no version", signature(base64.StdEncoding.EncodeToString(raw)), webhook.MalformedHeader, "no version"},
		{"no base64", signature("v1,%%%"), webhook.MalformedHeader, "not base64"},
		{"cut off", signature(right.Signature[:23]), webhook.MalformedHeader, "cut off"},
		{"endless", signature("v1," + strings.Repeat("A", 4000)), webhook.MalformedHeader, "longer"},
		{"another version", signature("v1a,abc v2,def"), webhook.UnknownVersion, `"v1a" and "v2"`},
		{"hexadecimal", signature("v1," + hex.EncodeToString(raw)), webhook.WrongEncoding, "hexadecimal"},
		{"without padding", signature("v1," + base64.RawStdEncoding.EncodeToString(raw)), webhook.WrongEncoding, "without the ="},
		{"URL-safe", signature("v1," + base64.URLEncoding.EncodeToString([]byte(strings.Repeat("\xff", 32)))), webhook.WrongEncoding, "URL-safe"},
		{"no time", with(func(p *webhook.Pasted) { p.Timestamp = "yesterday" }), webhook.MalformedTime, "not a number"},
		{"milliseconds", with(func(p *webhook.Pasted) { p.Timestamp += "000" }), webhook.MalformedTime, "milliseconds"},
		{"old", at(now.Add(-2*time.Hour - 3*time.Minute)), webhook.TooOld, "2 hours and 3 minutes old"},
		{"just young enough", at(now.Add(-webhook.Tolerance)), webhook.Verifies, ""},
		{"new", at(now.Add(6 * time.Minute)), webhook.TooNew, "6 minutes ahead"},
		{"former secret", signature(signed(former, "evt_1."+stamp+"."+sentBody)), webhook.FormerSecret, "1 March 2026, 11:00"},
		{"another endpoint", signature(signed(other, "evt_1."+stamp+"."+sentBody)), webhook.OtherEndpoint, `"Ledger"`},
		{"id with spaces", with(func(p *webhook.Pasted) { p.ID = "evt_1 " }), webhook.IDSpaces, "Trim"},
		{"timestamp of another attempt", with(func(p *webhook.Pasted) { p.Timestamp = fmt.Sprint(now.Unix() + 5) }), webhook.TimestampChanged, "another attempt's"},
		{"line break at the end", body(sentBody + "\r\n"), webhook.BodyRewritten, "without the line break"},
		{"byte order mark", body("\ufeff" + sentBody), webhook.BodyRewritten, "byte order mark"},
		{"indented", body(pretty), webhook.BodyRewritten, "compact JSON"},
		{"indented, with a line break", body(pretty + "\n"), webhook.BodyRewritten, "compact JSON"},
		{"keys sorted", body(`{"data":{"amount":5000,"name":"Adé & Söhne","note":"a/b"},"id":"evt_1","type":"payment.successful"}`), webhook.BodyRewritten, "another order"},
		{"escaped", body(strings.NewReplacer("é", `\u00e9`, "&", `\u0026`, "a/b", `a\/b`).Replace(sentBody)), webhook.BodyRewritten, "written otherwise"},
		{"amount changed", body(strings.Replace(sentBody, "5000", "5001", 1)), webhook.BodyChanged, "data differ"},
		{"no body", body(""), webhook.BodyChanged, "data differ"},
		{"key not decoded", signature("v1," + base64.StdEncoding.EncodeToString(mac([]byte(strings.TrimPrefix(mine, "whsec_")), "evt_1."+stamp+"."+sentBody))), webhook.KeyNotDecoded, "base64"},
		{"key not decoded, with its prefix", signature("v1," + base64.StdEncoding.EncodeToString(mac([]byte(mine), "evt_1."+stamp+"."+sentBody))), webhook.KeyNotDecoded, "base64"},
		{"body alone", signature(signed(mine, sentBody)), webhook.WrongContent, "a dot"},
		{"nobody's", signature(signed(secretOf('z'), "evt_1."+stamp+"."+sentBody)), webhook.UnknownSignature, "none of your secrets"},
	}
	known := webhook.Known{
		Chosen: []webhook.Key{{Endpoint: "Shop", Secret: mine}, {Endpoint: "Shop", Secret: along, Until: &soon}, {Endpoint: "Shop", Secret: former, Until: &past}},
		Others: []webhook.Key{{Endpoint: "Ledger", Secret: other}}, Found: true, Body: sentBody, Times: []string{stamp},
	}
	for _, c := range cases {
		v := webhook.Explain(c.p, known, now)
		if v.Reason != c.reason || !strings.Contains(v.Why+v.Do, c.says) || v.Why == "" || v.Do == "" {
			t.Errorf("%s: %+v, want %s (%s)", c.name, v, c.reason, c.says)
		}
		if changed := c.reason == webhook.BodyRewritten || c.reason == webhook.BodyChanged; changed != (v.Diff != nil) {
			t.Errorf("%s: difference %+v", c.name, v.Diff)
		}
	}
}

// TestExplainWithoutBody looks at events whose body is no longer kept, or that there never were.
func TestExplainWithoutBody(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	mine, stamp := secretOf('a'), fmt.Sprint(now.Unix())
	over := func(text string) string { return signed(mine, "evt_1."+stamp+"."+text) }
	for name, c := range map[string]struct {
		signature, body, reason, says string
		found                         bool
	}{
		"line ends":        {over("{}\n{}"), "{}\r\n{}", webhook.BodyRewritten, "line feeds", true},
		"line break lost":  {over("{}\n"), "{}", webhook.BodyRewritten, "at its end", true},
		"compacted":        {over("{\n  \"a\": 1\n}"), `{"a":1}`, webhook.BodyRewritten, "indented", true},
		"indented":         {over(`{"a":1}`), "{\n  \"a\": 1\n}", webhook.BodyRewritten, "compact", false},
		"unknown event":    {over("x"), "y", webhook.UnknownEvent, "no event", false},
		"known, body gone": {over("x"), "y", webhook.UnknownSignature, "none of your secrets", true},
	} {
		v := webhook.Explain(webhook.Pasted{ID: "evt_1", Timestamp: stamp, Signature: c.signature, Body: c.body},
			webhook.Known{Chosen: []webhook.Key{{Endpoint: "Shop", Secret: mine}}, Found: c.found}, now)
		if v.Reason != c.reason || !strings.Contains(v.Why, c.says) || v.Diff != nil {
			t.Errorf("%s: %+v, want %s (%s)", name, v, c.reason, c.says)
		}
	}
}

// TestDifference finds the first place where two bodies differ, and makes it visible.
func TestDifference(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stamp := fmt.Sprint(now.Unix())
	v := webhook.Explain(webhook.Pasted{ID: "evt_1", Timestamp: stamp, Signature: signed(secretOf('a'), "evt_1."+stamp+"."+sentBody),
		Body: strings.Replace(sentBody, `"type":`, "\n\t\"type\":", 1)}, webhook.Known{Chosen: []webhook.Key{{Secret: secretOf('a')}}, Found: true, Body: sentBody}, now)
	want := webhook.Difference{At: 14, Line: 1, Sent: `{"id":"evt_1","type":"payment.successful","dat…`, Pasted: `{"id":"evt_1",\n\t"type":"payment.successful","d…`,
		SentSize: len(sentBody), PastedSize: len(sentBody) + 2}
	if v.Diff == nil || *v.Diff != want {
		t.Errorf("%+v", v.Diff)
	}
}

// TestExplainSignature takes real deliveries: before and after a rotation, of
// another endpoint, and of another business.
func TestExplainSignature(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		other, _ := b.create(owner, shop.URL)
		id := b.emit(1)
		b.step()
		pasted := webhook.Pasted{}
		for _, r := range shop.requests() {
			p := webhook.Pasted{ID: r.header.Get("webhook-id"), Timestamp: r.header.Get("webhook-timestamp"), Signature: r.header.Get("webhook-signature"), Body: r.body}
			if v, err := b.ExplainSignature(ctx, owner, e.ID, p); err != nil {
				t.Fatal(err)
			} else if v.Reason == webhook.Verifies {
				pasted = p
			}
		}
		ask := func(endpoint, reason string, p webhook.Pasted) {
			t.Helper()
			v, err := b.ExplainSignature(ctx, owner, endpoint, p)
			if err != nil || v.Reason != reason {
				t.Errorf("%+v %v, want %s", v, err, reason)
			}
		}
		ask(e.ID, webhook.Verifies, pasted)
		ask(other.ID, webhook.OtherEndpoint, pasted)
		moved := pasted
		moved.Timestamp = fmt.Sprint(b.clock.Now().Unix() + 1)
		ask(e.ID, webhook.TimestampChanged, moved)
		indented := pasted
		indented.Body = strings.ReplaceAll(indented.Body, ",", ", ")
		ask(e.ID, webhook.BodyRewritten, indented)
		if _, _, err := b.RotateSecret(ctx, owner, e.ID); err != nil {
			t.Fatal(err)
		}
		ask(e.ID, webhook.Verifies, pasted)
		b.clock.Advance(webhook.Overlap + time.Minute)
		ask(e.ID, webhook.FormerSecret, pasted)
		if pasted.ID != id {
			t.Errorf("%q", pasted.ID)
		}
		pasted.Body = strings.Repeat("a", webhook.MaxPasted+1)
		if _, err := b.ExplainSignature(ctx, owner, e.ID, pasted); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		stranger := scope.Scope{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner}
		if _, err := b.ExplainSignature(ctx, stranger, e.ID, webhook.Pasted{}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if _, err := b.ExplainSignature(ctx, scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Finance}, e.ID, webhook.Pasted{}); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
	})
}
