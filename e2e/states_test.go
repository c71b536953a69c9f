package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/harness"
)

// course is how a merchant drives one payment in the sandbox to a state.
type course struct {
	name, method  string
	state, reason string
	drive         func(t *testing.T, i *harness.Instance, reference string)
}

// play runs scenarios one after the other.
func play(scenarios ...string) func(*testing.T, *harness.Instance, string) {
	return func(t *testing.T, i *harness.Instance, reference string) {
		t.Helper()
		for _, scenario := range scenarios {
			i.SendRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", harness.Fields{"scenario": scenario}, 200)
		}
	}
}

// reach waits for a state and reason. When they don't come, it shows the record that came instead.
func reach(t *testing.T, i *harness.Instance, reference, state, reason string) {
	t.Helper()
	var last harness.Record
	reached := false
	defer func() {
		if !reached {
			t.Logf("the last record is %+v", last)
		}
	}()
	harness.WaitFor(t, time.Minute, fmt.Sprintf("%s to be %s %q", reference, state, reason), func() bool {
		last = i.VerifyPayment(reference)
		reached = last.Status == state && last.Reason == reason
		return reached
	})
}

func advance(t *testing.T, i *harness.Instance, reference string, d time.Duration) {
	t.Helper()
	i.SendRequest("POST", "/v1/sandbox/advance", harness.Fields{"reference": reference, "seconds": int(d / time.Second)}, 200)
}

// courses lead to every state and every reason code.
var courses = []course{
	{"pending", "crypto_bitcoin", "pending", "", func(*testing.T, *harness.Instance, string) {}},
	{"initiated", "crypto_dogecoin", "initiated", "", play("never_confirms")},
	{"successful", "crypto_ripple", "successful", "", play("exact")},
	{"two parts", "crypto_bitcoin", "successful", "", play("two_parts")},
	{"surplus", "crypto_bitcoin", "successful", "", play("surplus")},
	{"late", "crypto_bitcoin", "successful", "late", play("late")},
	{"underpaid", "crypto_tether", "declined", "underpaid", play("underpay")},
	{"overpaid", "crypto_ripple", "declined", "overpaid", play("overpay")},
	{"after abandoned", "crypto_bitcoin", "declined", "after_abandoned", play("after_abandoned")},
	{"replaced", "crypto_bitcoin", "failed", "replaced", play("double_spend")},
	{"reverted", "crypto_ethereum", "failed", "reverted", play("revert")},
	{"reorged and back", "crypto_bitcoin", "successful", "", play("reorg")},
	{"missing tag", "crypto_ripple", "initiated", "", play("missing_tag")},
	{"wrong asset", "crypto_tether", "initiated", "", play("wrong_asset")},
	{"expired", "crypto_bitcoin", "expired", "", func(t *testing.T, i *harness.Instance, reference string) {
		advance(t, i, reference, 8*time.Minute)
	}},
	{"abandoned", "crypto_ripple", "abandoned", "", func(t *testing.T, i *harness.Instance, reference string) {
		play("missing_tag")(t, i, reference) // opens it, and pays nobody
		advance(t, i, reference, 25*time.Hour)
	}},
	{"dropped", "crypto_bitcoin", "failed", "dropped", func(t *testing.T, i *harness.Instance, reference string) {
		play("never_confirms")(t, i, reference)
		harness.WaitFor(t, time.Minute, "the transfer to be seen", func() bool { return i.VerifyPayment(reference).Transaction.CryptoTransactionHash != "" })
		i.SendRequest("POST", "/v1/sandbox/mine", harness.Fields{"payment_method": "crypto_bitcoin", "blocks": 40}, 200)
		harness.WaitFor(t, time.Minute, "the mempool to forget it", func() bool { return i.VerifyPayment(reference).Transaction.AmountPaid == "0.00" })
		advance(t, i, reference, 25*time.Hour)
	}},
	{"reversed", "crypto_dogecoin", "successful", "reversed", func(t *testing.T, i *harness.Instance, reference string) {
		play("exact")(t, i, reference)
		reach(t, i, reference, "successful", "")
		play("reorg")(t, i, reference)
	}},
	{"accepted", "crypto_ripple", "successful", "accepted_by_user", func(t *testing.T, i *harness.Instance, reference string) {
		play("overpay")(t, i, reference)
		reach(t, i, reference, "declined", "overpaid")
		signIn(t, i).post("/dashboard/payments/"+reference+"/accept", nil)
	}},
}

// TestEveryStateAndReason drives a payment to each state and reason code and
// has every delivery of the run verified by the public libraries of Go and Node. The books
// then agree with the records, and hledger with the books.
func TestEveryStateAndReason(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	address, came := receive(t)
	var endpoint struct{ Secret string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": address, "active": true}, 201).DecodeData(t, &endpoint)
	references, drives := map[string]string{}, map[string][]func(*testing.T){}
	for _, c := range courses {
		reference := initiated(t, i, c.method)
		references[reference] = c.state
		drives[c.method] = append(drives[c.method], func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				c.drive(t, i, reference)
				reach(t, i, reference, c.state, c.reason)
			})
		})
	}
	// Payments of one method follow each other: they share a simulated chain, and the blocks
	// or the reorganisation of one would change what happens to another.
	harness.RunEach(t, drives, func(t *testing.T, _ string, drives []func(*testing.T)) {
		for _, drive := range drives {
			drive(t)
		}
	})
	i.Stop() // what is under way is finished first
	i.Start()
	verifyAll(t, endpoint.Secret, references, came)
	checkBooks(t, i, slices.Collect(maps.Keys(references)))
}

// verifyAll waits until the deliveries show every payment's final state, and verifies each.
func verifyAll(t *testing.T, secret string, references map[string]string, came <-chan delivery) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	missing := map[string]string{}
	for reference, state := range references {
		if state != "pending" { // nothing is told of a payment that nobody has opened
			missing[reference] = "payment." + state
		}
	}
	var types []string
	timeout := time.After(time.Minute)
	for len(missing) > 0 {
		select {
		case d := <-came:
			if err := verifier.Verify(d.body, d.header); err != nil {
				t.Errorf("Go's library refuses %s: %v", d.header.Get("webhook-id"), err)
			}
			var e struct {
				Type string
				Data struct{ Reference string }
			}
			if err := json.Unmarshal(d.body, &e); err != nil {
				t.Fatal(err)
			}
			if missing[e.Data.Reference] == e.Type {
				delete(missing, e.Data.Reference)
			}
			types = append(types, note(t, &lines, secret, d))
		case <-timeout:
			t.Fatalf("never told: %v", missing)
		}
	}
	verifyInNode(t, &lines, types)
	t.Logf("%d deliveries verified by Go and by Node", len(types))
}

// browserless is a member's browser without a screen.
type browserless struct {
	t      testing.TB
	base   string
	client *http.Client
	token  string
}

var formToken = regexp.MustCompile(`name="csrf"[^>]*value="([^"]+)"`)

// signIn signs the instance's owner in to the dashboard.
func signIn(t testing.TB, i *harness.Instance) *browserless {
	t.Helper()
	return signInAs(t, i, harness.Email, harness.Password)
}

// signInAs signs a member in to the dashboard.
func signInAs(t testing.TB, i *harness.Instance, email, password string) *browserless {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browserless{t: t, base: i.Base, client: &http.Client{Jar: jar, Timeout: 20 * time.Second}}
	b.get("/sign-in")
	b.post("/sign-in", url.Values{"email": {email}, "password": {password}})
	b.get("/dashboard")
	return b
}

// cookies returns the header that the browser sends.
func (b *browserless) cookies() string {
	b.t.Helper()
	at, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	var pairs []string
	for _, cookie := range b.client.Jar.Cookies(at) {
		pairs = append(pairs, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(pairs, "; ")
}

func (b *browserless) get(path string) string {
	b.t.Helper()
	answer, err := b.client.Get(b.base + path)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(answer)
}

func (b *browserless) post(path string, fields url.Values) string {
	b.t.Helper()
	if fields == nil {
		fields = url.Values{}
	}
	fields.Set("csrf", b.token)
	request, err := http.NewRequest("POST", b.base+path, bytes.NewBufferString(fields.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", b.base)
	answer, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(answer)
}

// read returns the page and remembers its form token.
func (b *browserless) read(answer *http.Response) string {
	b.t.Helper()
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d %v %.300s", answer.Request.URL.Path, answer.StatusCode, err, text)
	}
	if found := formToken.FindSubmatch(text); found != nil {
		b.token = string(found[1])
	}
	return string(text)
}
