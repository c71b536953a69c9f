package diagnose_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
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
	right := diagnose.Pasted{ID: "evt_1", Timestamp: stamp, Signature: signed(mine, "evt_1."+stamp+"."+sentBody), Body: sentBody}
	raw := mac([]byte(strings.Repeat("a", 32)), "evt_1."+stamp+"."+sentBody)
	at := func(when time.Time) diagnose.Pasted {
		p := right
		p.Timestamp = fmt.Sprint(when.Unix())
		p.Signature = signed(mine, "evt_1."+p.Timestamp+"."+sentBody)
		return p
	}
	with := func(change func(p *diagnose.Pasted)) diagnose.Pasted {
		p := right
		change(&p)
		return p
	}
	body := func(text string) diagnose.Pasted { return with(func(p *diagnose.Pasted) { p.Body = text }) }
	signature := func(text string) diagnose.Pasted { return with(func(p *diagnose.Pasted) { p.Signature = text }) }
	pretty := strings.ReplaceAll(strings.ReplaceAll(sentBody, ",", ",\n  "), ":", ": ")
	cases := []struct {
		name   string
		p      diagnose.Pasted
		reason string
		says   string // in Why or Do
	}{
		{"right", right, diagnose.Verifies, "secret, timestamp and body fit"},
		{"two signatures", signature(signed(other, "x") + " " + right.Signature), diagnose.Verifies, ""},
		{"with another version beside it", signature("v1a,abc " + right.Signature), diagnose.Verifies, ""},
		{"with the headers' names", diagnose.Pasted{ID: "webhook-id: evt_1", Timestamp: "Webhook-Timestamp: " + stamp, Signature: "Webhook-Signature: " + right.Signature, Body: sentBody},
			diagnose.Verifies, ""},
		{"by the secret that signs along", signature(signed(along, "evt_1."+stamp+"."+sentBody)), diagnose.Verifies, "signs along until 1 March 2026, 13:00 UTC"},
		{"no id", with(func(p *diagnose.Pasted) { p.ID = " " }), diagnose.MissingHeader, "webhook-id is missing"},
		{"no header", diagnose.Pasted{Body: sentBody}, diagnose.MissingHeader, "webhook-id and webhook-timestamp and webhook-signature are missing"},
		{"a secret", signature(mine), diagnose.SecretPasted, "not a signature"},
		{"no version", signature(base64.StdEncoding.EncodeToString(raw)), diagnose.MalformedHeader, "no version"},
		{"no base64", signature("v1,%%%"), diagnose.MalformedHeader, "not base64"},
		{"cut off", signature(right.Signature[:23]), diagnose.MalformedHeader, "cut off"},
		{"endless", signature("v1," + strings.Repeat("A", 4000)), diagnose.MalformedHeader, "longer"},
		{"another version", signature("v1a,abc v2,def"), diagnose.UnknownVersion, `"v1a" and "v2"`},
		{"hexadecimal", signature("v1," + hex.EncodeToString(raw)), diagnose.WrongEncoding, "hexadecimal"},
		{"without padding", signature("v1," + base64.RawStdEncoding.EncodeToString(raw)), diagnose.WrongEncoding, "without the ="},
		{"URL-safe", signature("v1," + base64.URLEncoding.EncodeToString([]byte(strings.Repeat("\xff", 32)))), diagnose.WrongEncoding, "URL-safe"},
		{"no time", with(func(p *diagnose.Pasted) { p.Timestamp = "yesterday" }), diagnose.MalformedTime, "not a number"},
		{"milliseconds", with(func(p *diagnose.Pasted) { p.Timestamp += "000" }), diagnose.MalformedTime, "milliseconds"},
		{"old", at(now.Add(-2*time.Hour - 3*time.Minute)), diagnose.TooOld, "2 hours and 3 minutes old"},
		{"just young enough", at(now.Add(-diagnose.Tolerance)), diagnose.Verifies, ""},
		{"new", at(now.Add(6 * time.Minute)), diagnose.TooNew, "6 minutes ahead"},
		{"former secret", signature(signed(former, "evt_1."+stamp+"."+sentBody)), diagnose.FormerSecret, "1 March 2026, 11:00"},
		{"another endpoint", signature(signed(other, "evt_1."+stamp+"."+sentBody)), diagnose.OtherEndpoint, `"Ledger"`},
		{"id with spaces", with(func(p *diagnose.Pasted) { p.ID = "evt_1 " }), diagnose.IDSpaces, "Trim"},
		{"timestamp of another attempt", with(func(p *diagnose.Pasted) { p.Timestamp = fmt.Sprint(now.Unix() + 5) }), diagnose.TimestampChanged, "another attempt's"},
		{"line break at the end", body(sentBody + "\r\n"), diagnose.BodyRewritten, "without the line break"},
		{"byte order mark", body("\ufeff" + sentBody), diagnose.BodyRewritten, "byte order mark"},
		{"indented", body(pretty), diagnose.BodyRewritten, "compact JSON"},
		{"indented, with a line break", body(pretty + "\n"), diagnose.BodyRewritten, "compact JSON"},
		{"keys sorted", body(`{"data":{"amount":5000,"name":"Adé & Söhne","note":"a/b"},"id":"evt_1","type":"payment.successful"}`), diagnose.BodyRewritten, "another order"},
		{"escaped", body(strings.NewReplacer("é", `\u00e9`, "&", `\u0026`, "a/b", `a\/b`).Replace(sentBody)), diagnose.BodyRewritten, "written otherwise"},
		{"amount changed", body(strings.Replace(sentBody, "5000", "5001", 1)), diagnose.BodyChanged, "data differ"},
		{"no body", body(""), diagnose.BodyChanged, "data differ"},
		{"key not decoded", signature("v1," + base64.StdEncoding.EncodeToString(mac([]byte(strings.TrimPrefix(mine, "whsec_")), "evt_1."+stamp+"."+sentBody))), diagnose.KeyNotDecoded, "base64"},
		{"key not decoded, with its prefix", signature("v1," + base64.StdEncoding.EncodeToString(mac([]byte(mine), "evt_1."+stamp+"."+sentBody))), diagnose.KeyNotDecoded, "base64"},
		{"body alone", signature(signed(mine, sentBody)), diagnose.WrongContent, "a dot"},
		{"nobody's", signature(signed(secretOf('z'), "evt_1."+stamp+"."+sentBody)), diagnose.UnknownSignature, "none of your secrets"},
	}
	known := diagnose.Known{
		Chosen: []webhook.Key{{Endpoint: "Shop", Secret: mine}, {Endpoint: "Shop", Secret: along, Until: &soon}, {Endpoint: "Shop", Secret: former, Until: &past}},
		Others: []webhook.Key{{Endpoint: "Ledger", Secret: other}}, Found: true, Body: sentBody, Times: []string{stamp},
	}
	for _, c := range cases {
		v := diagnose.Explain(c.p, known, now)
		if v.Reason != c.reason || !strings.Contains(v.Why+v.Do, c.says) || v.Why == "" || v.Do == "" {
			t.Errorf("%s: %+v, want %s (%s)", c.name, v, c.reason, c.says)
		}
		if changed := c.reason == diagnose.BodyRewritten || c.reason == diagnose.BodyChanged; changed != (v.Diff != nil) {
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
		"line ends":        {over("{}\n{}"), "{}\r\n{}", diagnose.BodyRewritten, "line feeds", true},
		"line break lost":  {over("{}\n"), "{}", diagnose.BodyRewritten, "at its end", true},
		"compacted":        {over("{\n  \"a\": 1\n}"), `{"a":1}`, diagnose.BodyRewritten, "indented", true},
		"indented":         {over(`{"a":1}`), "{\n  \"a\": 1\n}", diagnose.BodyRewritten, "compact", false},
		"unknown event":    {over("x"), "y", diagnose.UnknownEvent, "no event", false},
		"known, body gone": {over("x"), "y", diagnose.UnknownSignature, "none of your secrets", true},
	} {
		v := diagnose.Explain(diagnose.Pasted{ID: "evt_1", Timestamp: stamp, Signature: c.signature, Body: c.body},
			diagnose.Known{Chosen: []webhook.Key{{Endpoint: "Shop", Secret: mine}}, Found: c.found}, now)
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
	v := diagnose.Explain(diagnose.Pasted{ID: "evt_1", Timestamp: stamp, Signature: signed(secretOf('a'), "evt_1."+stamp+"."+sentBody),
		Body: strings.Replace(sentBody, `"type":`, "\n\t\"type\":", 1)}, diagnose.Known{Chosen: []webhook.Key{{Secret: secretOf('a')}}, Found: true, Body: sentBody}, now)
	want := diagnose.Difference{At: 14, Line: 1, Sent: `{"id":"evt_1","type":"payment.successful","dat…`, Pasted: `{"id":"evt_1",\n\t"type":"payment.successful","d…`,
		SentSize: len(sentBody), PastedSize: len(sentBody) + 2}
	if v.Diff == nil || *v.Diff != want {
		t.Errorf("%+v", v.Diff)
	}
}

// TestMostSignatures looks at the first ten signatures of a header, and no further.
func TestMostSignatures(t *testing.T) {
	t.Parallel()
	mine, stamp := secretOf('a'), fmt.Sprint(start.Unix())
	right := signed(mine, "evt_1."+stamp+"."+sentBody)
	for before, want := range map[int]string{9: diagnose.Verifies, 10: diagnose.UnknownEvent} {
		p := diagnose.Pasted{ID: "evt_1", Timestamp: stamp, Signature: strings.Repeat(signed(mine, "x")+" ", before) + right, Body: sentBody}
		if v := diagnose.Explain(p, diagnose.Known{Chosen: []webhook.Key{{Endpoint: "Shop", Secret: mine}}}, start); v.Reason != want {
			t.Errorf("after %d others: %+v, want %s", before, v, want)
		}
	}
}
