package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/harness"
)

// delivery is one request that the program made to a merchant's endpoint.
type delivery struct {
	header http.Header
	body   []byte
}

// receive serves an endpoint that accepts everything and hands it on.
func receive(t *testing.T) (address string, came <-chan delivery) {
	t.Helper()
	deliveries := make(chan delivery, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		deliveries <- delivery{r.Header, body}
	}))
	t.Cleanup(server.Close)
	return server.URL, deliveries
}

// TestSignatures (WH-1) pays a payment and verifies each delivery of its events with the
// public libraries for Go and for Node, as it came and tampered with.
func TestSignatures(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	address, came := receive(t)
	var endpoint struct{ Secret string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": address, "active": true}, 201).DecodeData(t, &endpoint)
	verifier, err := standardwebhooks.NewWebhook(endpoint.Secret)
	if err != nil {
		t.Fatal(err)
	}
	var payment struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_ripple"), 201).DecodeData(t, &payment)
	i.SendRequest("POST", "/v1/sandbox/payments/"+payment.Reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)

	var lines bytes.Buffer
	var types []string
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for !slices.Contains(types, "payment.successful") {
		select {
		case d := <-came:
			if err := verifier.Verify(d.body, d.header); err != nil {
				t.Errorf("%s: %v", d.body, err)
			}
			if err := verifier.Verify(append(d.body, ' '), d.header); err == nil {
				t.Error("a changed body verifies")
			}
			types = append(types, note(t, &lines, endpoint.Secret, d))
		case <-patience.C:
			t.Fatalf("waited for payment.successful; came: %v", types)
		}
	}

	refusedInNode(t, lines.String())
	verifyInNode(t, &lines, types)
}

// script runs one of the scripts beside the tests and returns what it printed.
func script(t *testing.T, input io.Reader, name string, arguments ...string) string {
	t.Helper()
	node := exec.Command("node", append([]string{filepath.Join(harness.FindRoot(), "e2e", name)}, arguments...)...)
	node.Stdin = input
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// refusedInNode has Node's public libraries refuse deliveries that note wrote,
// each in every way in which they could have been changed.
func refusedInNode(t *testing.T, lines string) {
	t.Helper()
	table := filepath.Join(harness.FindRoot(), "core", "webhook", "delivery", "testdata", "tamperings.json")
	out := script(t, strings.NewReader(lines), "tamper.mjs", table)
	least := 20 * 2 * strings.Count(lines, "\n") // tamperings, libraries
	if refused := strings.Count(out, " refused "); refused < least {
		t.Errorf("Node refused %d tamperings, want %d or more", refused, least)
	}
}

// verifyInNode has Node's public libraries verify deliveries that note wrote.
func verifyInNode(t *testing.T, lines io.Reader, types []string) {
	t.Helper()
	out := script(t, lines, "verify.mjs")
	if verified := strings.Count(out, "\n"); verified != len(types) {
		t.Errorf("Node verified %d of %d deliveries: %s", verified, len(types), out)
	}
	for _, want := range types {
		if !strings.Contains(out, " "+want+"\n") {
			t.Errorf("Node verified no %s: %s", want, out)
		}
	}
}

// note writes a delivery as verify.mjs reads it, and returns its event's type.
func note(t *testing.T, to io.Writer, secret string, d delivery) string {
	t.Helper()
	headers := map[string]string{}
	for name := range d.header {
		headers[strings.ToLower(name)] = d.header.Get(name)
	}
	if err := json.NewEncoder(to).Encode(map[string]any{"secret": secret, "headers": headers, "body": string(d.body)}); err != nil {
		t.Fatal(err)
	}
	var event struct{ Type string }
	if err := json.Unmarshal(d.body, &event); err != nil {
		t.Fatal(err)
	}
	return event.Type
}
