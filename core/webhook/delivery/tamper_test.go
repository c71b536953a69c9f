package delivery_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// tampering is one way in which a delivery isn't what was sent. Node's test
// reads the same table.
type tampering struct {
	Name string
	Part string // body, or the name of a header
	Do   string // see change
	Text string // of what Do is done with
	With string
	// Count is how many bytes, which byte, or how much is added.
	Count int
}

func tamperings(t *testing.T) (list []tampering) {
	t.Helper()
	text, err := os.ReadFile("testdata/tamperings.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// of tampers with a copy of a request. other is a genuine one of another webhook.
func (one tampering) of(genuine, other received) received {
	r := received{header: genuine.header.Clone(), body: genuine.body}
	switch {
	case one.Part == "body":
		r.body = one.change(r.body, other.body)
	case one.Do == "remove":
		r.header.Del(one.Part)
	default:
		r.header.Set(one.Part, one.change(r.header.Get(one.Part), other.header.Get(one.Part)))
	}
	return r
}

// change gives what a part becomes; e2e/tamper.mjs does the same.
func (one tampering) change(part, other string) string {
	switch one.Do {
	case "set":
		return one.Text
	case "exchange":
		return other
	case "replace":
		return strings.Replace(part, one.Text, one.With, 1)
	case "replace all":
		return strings.ReplaceAll(part, one.Text, one.With)
	case "append":
		return part + one.Text
	case "prepend":
		return one.Text + part
	case "cut":
		return part[:len(part)-one.Count]
	case "count on":
		n, _ := strconv.Atoi(part)
		return strconv.Itoa(n + one.Count)
	case "turn":
		letter := "A"
		if part[one.Count] == 'A' {
			letter = "B"
		}
		return part[:one.Count] + letter + part[one.Count+1:]
	case "hexadecimal":
		plain, _ := base64.StdEncoding.DecodeString(part[3:])
		return "v1," + hex.EncodeToString(plain)
	}
	return part // which the test complains of
}

// TestTamperings (WH-1) has the public library look at what a merchant got, as it came
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
		list := tamperings(t)
		if len(list) < 20 {
			t.Errorf("only %d tamperings", len(list))
		}
		for _, one := range list {
			r := one.of(genuine, other)
			if sameRequest(r, genuine) {
				t.Errorf("%s changes nothing", one.Name)
			}
			if verifier.Verify([]byte(r.body), r.header) == nil {
				t.Errorf("%s verifies", one.Name)
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
